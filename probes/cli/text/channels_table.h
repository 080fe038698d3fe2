// SPDX-License-Identifier: MIT
// The output of `midscope channels`, made from its records, newly computed or from a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "probes/cli/console/text_table.h"

namespace midscope::cli {

// Returns JSON: {"layers_examined", "layer_threshold", ..., "channels": [{"channel",
// "monotone_layers", "smoothness", "trend", "smoothest_layer"}, ...], "validation": {...} or null,
// "setting": text or null, "file"}; "channels" lists the channels that pass the threshold,
// smoothest first.
std::string ChannelsJson(const std::vector<Record>& records, const std::string& file);

// Returns the first `top` channels, the trials with the lowest losses, and the resulting setting.
Printout ChannelTables(const std::vector<Record>& records, size_t top);

// Returns a line about a preliminary record channel_search: "after 4 of 24 prompts: channel 100
// leads, falling in 27 of 27 layers".
std::string LeaderText(const Record& search);

// Returns the name of a value of array trend in record channel_search: "rising", "falling", "none".
const char* TrendName(int64_t trend);

}  // namespace midscope::cli
