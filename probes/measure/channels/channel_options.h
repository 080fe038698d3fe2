// SPDX-License-Identifier: MIT
// Options of a search for channels: one list for the command line, for the window's form and for
// the engine's request.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/decoder/decoder.h"
#include "probes/measure/channels/find_channels.h"

namespace midscope {

// Options of the search, of the validation and of the prompts' format.
std::vector<Parameter> ChannelOptions();

// The options that were set, not by default, as a JSON object: defaults depend on other options
// (variant, preset), so that stating them is not the same.
std::string StatedJson(const OptionSet& options);

// Throws Error (usage): what can be refused without a model.
void CheckChannelOptions(const OptionSet& options);

// The search that `options` (of ChannelOptions, and others) ask for, without files. Throws Error
// (usage): what the model lacks.
FindChannelsRun ReadChannelOptions(const OptionSet& options,
                                   std::shared_ptr<const Decoder> decoder);

}  // namespace midscope
