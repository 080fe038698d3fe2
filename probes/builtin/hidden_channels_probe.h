// SPDX-License-Identifier: MIT
// Chosen channels of the residual stream against position.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/base/probe.h"

namespace midscope {

// Record hidden_channels: hidden_channel [layer, channel, position] float32, after every block.
// Runs where --channels names channels.
ProbeType HiddenChannelsProbe();

// The same record for values [layer, channel, position] computed elsewhere.
Record HiddenChannelsRecord(const ModelConfig& config, const std::vector<int64_t>& channels,
                            int64_t positions, std::vector<float> values);

}  // namespace midscope
