// SPDX-License-Identifier: MIT
// Search for positional channels: channels of the residual stream that rise or fall with position
// in most layers, whatever the text (Yu et al., "Mitigate Position Bias in Large Language Models
// via Scaling a Single Dimension", arXiv 2406.02536, section 3 and appendix A.2; public code
// PositionalHidden). Hidden states are averaged over prompts of random characters. A channel's
// trend in a layer is the trend of its cubic fit; channels with a trend in enough layers are
// ordered by smoothness. The validation selects the one to scale (channel_validation.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/model/model_config.h"
#include "probes/measure/builtin/hidden_sums.h"
#include "probes/measure/channels/channel_options.h"
#include "probes/measure/statistics/position_trend.h"

namespace midscope {

// Where paper and public code differ:
// clang-format off
//   kPaper   trend from position 100 on and smoothness by second differences are the paper's; it
//            states no smoothing before them (smoothing_window 0): Savitzky-Golay window 11 (odd,
//            next to the code's 10) and the 200 positions skipped are the code's, as are layers 2 to
//            L-2 and threshold L/4;
//   kCode    trend from position 300 on, window 10 (even: a shift by half a position, which changes
//            no rank); in models with an odd number of layers it takes blocks 1 to L-2 and (L+1)/4.
//            The code sums hidden states in float16; Midscope never does.
// clang-format on
enum class SearchVariant { kPaper, kCode };

struct ChannelSearchOptions {
  HiddenSumsPlan states;          // 24 prompts by default; the public code runs 200
  int64_t trend_skip = 100;       // number of first positions excluded from the trend
  int64_t smoothness_skip = 200;  // number of first positions excluded from the smoothness
  int64_t smoothing_window = 11;  // 0 or 1: no smoothing before second differences
  int64_t threshold = 0;  // epsilon: a channel needs a trend in more layers than this (kFull)
  SearchRanking ranking = SearchRanking::kFull;
};

// Returns the options of the variant for a model with `model_layers` layers.
ChannelSearchOptions OptionsOf(SearchVariant variant, int64_t model_layers);
// Throws Error (usage) if prompts are shorter than the skipped positions, or exceed the model's
// context.
void CheckSearchOptions(const ChannelSearchOptions& options, const ModelConfig& config);

struct ChannelScore {
  int64_t channel = 0;
  Trend trend = Trend::kNone;   // the trend of more layers; ties: falling, as in the public code
  int64_t monotone_layers = 0;  // layers with that trend
  // Minimum roughness over those layers (kNoMonotonicity: over all); smaller is smoother. NaN: not
  // a candidate.
  double smoothness = 0;
  int64_t smoothest_layer = -1;
};

// Returns the scores of all channels, ordered by channel.
std::vector<ChannelScore> ScoreChannels(const HiddenSums& sums, const ChannelSearchOptions& options,
                                        const JobContext& context);
// Returns the candidates in the order of the ranking; for ties, the lower channel first. `top` is
// used only by kNoValidation.
std::vector<ChannelScore> RankChannels(const std::vector<ChannelScore>& scores,
                                       SearchRanking ranking, int64_t top);

inline constexpr const char* kChannelSearchRecord = "channel_search";
// Attribute of a preliminary record: the number of prompts over which the final record averages.
inline constexpr const char* kPlannedPrompts = "planned_prompts";
// Returns record channel_search: trend (1 rising, -1 falling, 0 none), monotone_layers, smoothness,
// smoothest_layer [channel]; if there are candidates, ranked_channel [rank], and for the first
// `top` of them hidden_mean and cubic_fit [candidate, layer, position] from position 30 on, as in
// the paper's figures (NaN at positions that the fit skips). Attributes layers_examined,
// layer_threshold, prompts, tokens, seed, trend_skip, smoothness_skip, smoothing_window, ranking.
Record ChannelSearchRecord(const HiddenSums& sums, const ChannelSearchOptions& options,
                           const std::vector<ChannelScore>& scores, int64_t top);

}  // namespace midscope
