// SPDX-License-Identifier: MIT
#include "probes/measure/channels/prompt_channels.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/decoder/captures.h"
#include "core/intervention/passage.h"
#include "probes/prompt/prompt_fits.h"

namespace midscope {
namespace {

constexpr int64_t kSkippedShare = 4;  // skips at most a quarter of a short prompt

void CheckHiddenMemory(const ModelConfig& config, int64_t tokens, size_t layers) {
  // Bytes of the hidden states: captured in float32 for every layer, summed in float64 for the
  // layers of the search.
  const int64_t bytes =
      tokens * config.hidden * (config.layers * 4 + static_cast<int64_t>(layers) * 8);
  if (bytes <= kPromptChannelsBytes) return;
  const int64_t fitting = tokens * (kPromptChannelsBytes >> 20) / (bytes >> 20);
  throw UsageError("channels of the prompt",
                   fmt::format("the hidden states of {} tokens take {} MiB", tokens, bytes >> 20),
                   fmt::format("Shorten the prompt to about {} tokens", fitting));
}

}  // namespace

ChannelSearchOptions ForPrompt(ChannelSearchOptions options, int64_t tokens) {
  constexpr int64_t kLeastWindow = 5;  // minimum for a cubic
  options.trend_skip = std::min(options.trend_skip, tokens / kSkippedShare);
  options.smoothness_skip = std::min(options.smoothness_skip, tokens / kSkippedShare);
  const int64_t needed = 2 * std::max(options.smoothing_window, kLeastWindow);
  const int64_t left = tokens - std::max(options.trend_skip, options.smoothness_skip);
  if (left < needed) {
    throw UsageError("channels of the prompt",
                     fmt::format("its {} tokens say nothing of a trend: {} are left, {} are needed",
                                 tokens, left, needed),
                     "Take a longer prompt, or a smaller window of smoothing");
  }
  options.states.prompts = 1;
  options.states.tokens = tokens;
  return options;
}

Record RankPromptChannels(const Decoder& decoder, const Prompt& prompt,
                          const Intervention& intervention, const ChannelSearchOptions& options,
                          int64_t top, const JobContext& context) {
  const ModelConfig& config = decoder.config();
  CheckPromptFits(config, prompt, intervention);
  const auto tokens = static_cast<int64_t>(prompt.ids.size());
  const ChannelSearchOptions fitted = ForPrompt(options, tokens);
  if (fitted.states.layers.empty()) CheckSearchOptions(fitted, config);  // throws with the reason
  CheckHiddenMemory(config, tokens, fitted.states.layers.size());
  ResidualRows rows(config, tokens);
  RunRequest request;
  request.ids = prompt.ids;
  request.prompt_tokens = tokens;
  request.intervention = ResolvePassages(intervention, prompt);
  request.hooks = {&rows};
  decoder.RunOne(request, context);
  HiddenSums sums;
  sums.prompts = 1;
  sums.positions = tokens;
  sums.channels = config.hidden;
  sums.layers = fitted.states.layers;
  const int64_t layer_size = tokens * config.hidden;
  sums.sums.reserve(sums.layers.size() * static_cast<size_t>(layer_size));
  for (const int64_t layer : sums.layers) {
    const auto first = rows.values().begin() + layer * layer_size;
    sums.sums.insert(sums.sums.end(), first, first + layer_size);
  }
  Record record = ChannelSearchRecord(sums, fitted, ScoreChannels(sums, fitted, context), top);
  record.name = kPromptChannelsRecord;
  return record;
}

}  // namespace midscope
