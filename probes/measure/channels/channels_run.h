// SPDX-License-Identifier: MIT
// Makes the search for channels that its options (channel_options.h) describe.
#pragma once

#include <memory>

#include "core/base/options.h"
#include "core/decoder/decoder.h"
#include "probes/measure/channels/find_channels.h"

namespace midscope {

// Makes the search that `options` (which include ChannelOptions) describe, without files. Throws
// Error (usage) if it does not fit the model.
FindChannelsRun ReadChannelOptions(const OptionSet& options,
                                   std::shared_ptr<const Decoder> decoder);

}  // namespace midscope
