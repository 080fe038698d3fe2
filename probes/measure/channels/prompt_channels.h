// SPDX-License-Identifier: MIT
// The channels of one prompt that rise or fall with position: the rule of the search
// (channel_search.h) on the hidden states of this prompt alone, in one run. They also depend on the
// content of the text, so that fewer channels are monotone than in the mean over prompts of random
// text.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/intervention/intervention.h"
#include "core/tokenizer/prompt.h"
#include "probes/measure/channels/channel_search.h"

namespace midscope {

inline constexpr const char* kPromptChannelsRecord = "prompt_channels";

// The search's options for a prompt of so many tokens: of a short one a quarter is left out of
// trend and smoothness at most. Throws Error (usage) if too few are left.
ChannelSearchOptions ForPrompt(ChannelSearchOptions options, int64_t tokens);

// Record prompt_channels, of the arrays and attributes of channel_search with `prompts` 1. One run
// of the prompt without its answer under the intervention. `top`: candidates with curves. Throws
// Error (usage) for a prompt that does not fit, that is too short, or whose hidden states would
// need more than kPromptChannelsBytes of memory; Cancelled.
inline constexpr int64_t kPromptChannelsBytes = int64_t{4} << 30;
Record RankPromptChannels(const Decoder& decoder, const Prompt& prompt,
                          const Intervention& intervention, const ChannelSearchOptions& options,
                          int64_t top, const JobContext& context);

}  // namespace midscope
