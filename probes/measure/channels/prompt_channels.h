// SPDX-License-Identifier: MIT
// Finds the channels that rise or fall with position in one prompt: applies the rule of the search
// (channel_search.h) to the hidden states of this prompt, in one run. Hidden states of one prompt
// also depend on its content, so fewer channels are monotone than in the mean over prompts of
// random text.
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

// Adapts the search's options to a prompt of `tokens` tokens: at most a quarter of its positions is
// excluded from trend and smoothness. Throws Error (usage) if too few positions remain.
ChannelSearchOptions ForPrompt(ChannelSearchOptions options, int64_t tokens);

// Runs the prompt once, without its answer, under the intervention, and returns record
// prompt_channels: the arrays and attributes of channel_search, with `prompts` 1. `top`: number of
// candidates for which curves are returned. Throws Error (usage) if the prompt does not fit the
// context, is too short, or its hidden states need more than kPromptChannelsBytes bytes; Cancelled.
inline constexpr int64_t kPromptChannelsBytes = int64_t{4} << 30;
Record RankPromptChannels(const Decoder& decoder, const Prompt& prompt,
                          const Intervention& intervention, const ChannelSearchOptions& options,
                          int64_t top, const JobContext& context);

}  // namespace midscope
