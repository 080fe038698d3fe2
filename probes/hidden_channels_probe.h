// SPDX-License-Identifier: MIT
// How chosen channels of the residual stream go with position.
#pragma once

#include "probes/probe.h"

namespace midscope {

// Record hidden_channels: hidden_channel [layer, channel, position] float32, after every block.
// Runs where --channels names some.
ProbeType HiddenChannelsProbe();

}  // namespace midscope
