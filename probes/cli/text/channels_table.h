// SPDX-License-Identifier: MIT
// The output of `channels`, from its records: those just made or those of a file.
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope::cli {

// {"layers_examined", "layer_threshold", ..., "channels": [{"channel", "monotone_layers",
// "smoothness", "trend", "smoothest_layer"}, ...], "validation": {...} or null, "setting": text or
// null, "file"}; channels are those over the threshold, smoothest first.
std::string ChannelsJson(const std::vector<Record>& records, const std::string& file);

// The first `top` channels, the trials with the least losses, and the ready setting.
std::string ChannelsText(const std::vector<Record>& records, size_t top);

}  // namespace midscope::cli
