// SPDX-License-Identifier: MIT
// The options of a search for channels, shared by the command line, the window's form and the
// engine's request.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/decoder/decoder.h"
#include "probes/measure/channels/find_channels.h"

namespace midscope {

// Returns the options of the search, of the validation and of the prompt format.
std::vector<Parameter> ChannelOptions();

// Returns the options that were set explicitly, as a JSON object. Defaults are not included because
// they depend on other options (variant, preset).
std::string StatedJson(const OptionSet& options);

// Checks the options as far as possible without a model. Throws Error (usage).
void CheckChannelOptions(const OptionSet& options);

// Makes the search that `options` (which include ChannelOptions) describe, without files. Throws
// Error (usage) if it does not fit the model.
FindChannelsRun ReadChannelOptions(const OptionSet& options,
                                   std::shared_ptr<const Decoder> decoder);

}  // namespace midscope
