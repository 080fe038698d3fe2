// SPDX-License-Identifier: MIT
#include "probes/measure/channels/channel_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/record.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kFirstDrawn =
    30;  // first plotted position; earlier values exceed all others by far (massive activations)

// Finds the trend of one channel in every layer.
ChannelScore ScoreTrends(const HiddenSums& sums, int64_t channel, int64_t skip, const CubicFit& fit,
                         std::vector<size_t>& layers) {
  std::vector<size_t> rising;
  std::vector<size_t> falling;
  for (size_t layer = 0; layer < sums.layers.size(); ++layer) {
    const Trend trend = fit.TrendOf(sums.Series(layer, channel, skip));
    if (trend == Trend::kRising) rising.push_back(layer);
    if (trend == Trend::kFalling) falling.push_back(layer);
  }
  layers = rising.size() > falling.size() ? rising : falling;
  ChannelScore score;
  score.channel = channel;
  score.monotone_layers = static_cast<int64_t>(layers.size());
  score.smoothness = kMissing;
  if (!layers.empty()) {
    score.trend = rising.size() > falling.size() ? Trend::kRising : Trend::kFalling;
  }
  return score;
}

void AddScores(const std::vector<ChannelScore>& scores, Record& record) {
  std::vector<int64_t> trend;
  std::vector<int64_t> monotone;
  std::vector<double> smoothness;
  std::vector<int64_t> smoothest;
  for (const ChannelScore& score : scores) {
    trend.push_back(score.trend == Trend::kRising ? 1 : score.trend == Trend::kFalling ? -1 : 0);
    monotone.push_back(score.monotone_layers);
    smoothness.push_back(score.smoothness);
    smoothest.push_back(score.smoothest_layer);
  }
  const std::vector<std::string> axes = {"channel"};
  record.arrays.push_back({"monotone_layers", axes, std::move(monotone), "layers",
                           "layers in which the channel's cubic fit has its trend"});
  record.arrays.push_back({"trend", axes, std::move(trend), "", "1 rising, -1 falling, 0 none"});
  record.arrays.push_back({"smoothness", axes, std::move(smoothness), "",
                           "sum of squared second differences after smoothing, least over those "
                           "layers (without monotonicity over all); NaN: no candidate"});
  record.arrays.push_back({"smoothest_layer", axes, std::move(smoothest), "", "where that is"});
}

void AddCurves(const HiddenSums& sums, const ChannelSearchOptions& options,
               const std::vector<int64_t>& candidates, Record& record) {
  const int64_t first = std::min(kFirstDrawn, sums.positions - 1);
  const auto drawn = static_cast<size_t>(sums.positions - first);
  const CubicFit fit(sums.positions - options.trend_skip);
  std::vector<float> means;
  std::vector<float> fits;
  for (const int64_t channel : candidates) {
    for (size_t layer = 0; layer < sums.layers.size(); ++layer) {
      const std::vector<double> series = sums.Series(layer, channel, first);
      means.insert(means.end(), series.begin(), series.end());
      const std::vector<double> fitted =
          fit.Fitted(sums.Series(layer, channel, options.trend_skip));
      // The cubic fit and the plotted range may begin at different positions.
      const size_t take = std::min(drawn, fitted.size());
      fits.insert(fits.end(), drawn - take, static_cast<float>(kMissing));
      fits.insert(fits.end(), fitted.end() - static_cast<ptrdiff_t>(take), fitted.end());
    }
  }
  std::vector<int64_t> positions(drawn);
  std::iota(positions.begin(), positions.end(), first);
  record.axes.push_back(ValuedAxis("candidate", candidates));
  record.axes.push_back(ValuedAxis("layer", sums.layers));
  record.axes.push_back(ValuedAxis("position", positions));
  record.axes.back().unit = "tokens";
  const std::vector<std::string> axes = {"candidate", "layer", "position"};
  record.arrays.push_back({"hidden_mean", axes, std::move(means), "",
                           "residual stream after each block, mean over prompts of random text"});
  record.arrays.push_back({"cubic_fit", axes, std::move(fits), "", "its least-squares cubic"});
}

}  // namespace

ChannelSearchOptions OptionsOf(SearchVariant variant, int64_t model_layers) {
  ChannelSearchOptions options;
  int64_t first = 2;
  options.threshold = model_layers / 4;
  if (variant == SearchVariant::kCode) {
    options.trend_skip = 300;
    options.smoothing_window = 10;
    // The public code removes the embeddings from its list of hidden states only if the length of
    // the list is odd.
    if (model_layers % 2 == 1) {
      first = 1;
      options.threshold = (model_layers + 1) / 4;
    }
  }
  for (int64_t layer = first; layer <= model_layers - 2; ++layer)
    options.states.layers.push_back(layer);
  return options;
}

void CheckSearchOptions(const ChannelSearchOptions& options, const ModelConfig& config) {
  if (options.states.layers.empty()) {
    throw UsageError(
        "channel search",
        fmt::format("the model has {} layers, of which the search leaves none", config.layers));
  }
  constexpr int64_t kLeastWindow = 5;  // minimum window for a cubic
  if (options.smoothing_window > 1 && options.smoothing_window < kLeastWindow) {
    throw UsageError(
        "option --smoothing",
        fmt::format("a cubic through {} values smooths nothing", options.smoothing_window),
        "Give 0 for no smoothing, or 5 and more");
  }
  const int64_t least = std::max(options.trend_skip, options.smoothness_skip) +
                        2 * std::max(options.smoothing_window, kLeastWindow);
  if (options.states.tokens < least) {
    throw UsageError(
        "option --tokens",
        fmt::format("the first positions are skipped, so prompts of {} tokens say nothing",
                    options.states.tokens),
        fmt::format("Give {} or more", least));
  }
  if (options.states.tokens > config.trained_context) {
    throw UsageError("option --tokens",
                     fmt::format("{} tokens do not fit the model's context of {}",
                                 options.states.tokens, config.trained_context));
  }
}

std::vector<ChannelScore> ScoreChannels(const HiddenSums& sums, const ChannelSearchOptions& options,
                                        const JobContext& context) {
  const CubicFit fit(sums.positions - options.trend_skip);
  const CubicSmoother smoother(options.smoothing_window);
  std::vector<ChannelScore> scores;
  std::vector<size_t> layers;
  for (int64_t channel = 0; channel < sums.channels; ++channel) {
    context.ThrowIfCancelled();
    context.Report({"rank channels", channel, sums.channels, "channels"});
    ChannelScore score = ScoreTrends(sums, channel, options.trend_skip, fit, layers);
    if (options.ranking == SearchRanking::kNoMonotonicity) {
      layers.resize(sums.layers.size());
      std::iota(layers.begin(), layers.end(), size_t{0});
    }
    const bool full = options.ranking == SearchRanking::kFull;
    if (!full || score.monotone_layers > options.threshold) {
      for (const size_t layer : layers) {
        const double roughness =
            Roughness(sums.Series(layer, channel, options.smoothness_skip), smoother);
        if (std::isnan(roughness) || roughness >= score.smoothness) continue;
        score.smoothness = roughness;
        score.smoothest_layer = sums.layers[layer];
      }
    }
    scores.push_back(score);
  }
  context.Report({"rank channels", sums.channels, sums.channels, "channels"});
  return scores;
}

std::vector<ChannelScore> RankChannels(const std::vector<ChannelScore>& scores,
                                       SearchRanking ranking, int64_t top) {
  std::vector<ChannelScore> ranked;
  std::copy_if(scores.begin(), scores.end(), std::back_inserter(ranked),
               [](const ChannelScore& score) { return !std::isnan(score.smoothness); });
  const bool by_layers =
      ranking == SearchRanking::kNoSmoothness || ranking == SearchRanking::kNoValidation;
  if (by_layers) {
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
      return a.monotone_layers > b.monotone_layers;
    });
  }
  if (ranking == SearchRanking::kNoValidation) {
    ranked.resize(std::min(ranked.size(), static_cast<size_t>(top)));
  }
  if (ranking != SearchRanking::kNoSmoothness) {
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
      return std::pair(a.smoothness, a.channel) < std::pair(b.smoothness, b.channel);
    });
  }
  return ranked;
}

Record ChannelSearchRecord(const HiddenSums& sums, const ChannelSearchOptions& options,
                           const std::vector<ChannelScore>& scores, int64_t top) {
  std::vector<int64_t> ranked;
  for (const ChannelScore& score : RankChannels(scores, options.ranking, top)) {
    ranked.push_back(score.channel);
  }
  std::vector<int64_t> candidates = ranked;
  candidates.resize(std::min(candidates.size(), static_cast<size_t>(top)));

  Record record;
  record.name = kChannelSearchRecord;
  record.axes = {CountedAxis("channel", sums.channels)};
  AddScores(scores, record);
  record.signal = "monotone_layers";
  if (!ranked.empty()) {
    record.axes.push_back(CountedAxis("rank", static_cast<int64_t>(ranked.size())));
    record.axes.back().unit = kRankFromZero;
    record.arrays.push_back({"ranked_channel", {"rank"}, ranked, "", NameOf(options.ranking).text});
    AddCurves(sums, options, candidates, record);
    record.signal = "hidden_mean";
  }
  record.attributes["layers_examined"] = static_cast<int64_t>(sums.layers.size());
  record.attributes["layer_threshold"] = options.threshold;
  record.attributes["prompts"] = sums.prompts;
  record.attributes["tokens"] = sums.positions;
  record.attributes["seed"] = static_cast<int64_t>(options.states.seed);
  record.attributes["trend_skip"] = options.trend_skip;
  record.attributes["smoothness_skip"] = options.smoothness_skip;
  record.attributes["smoothing_window"] = options.smoothing_window;
  record.attributes["ranking"] = std::string(NameOf(options.ranking).name);
  return record;
}

}  // namespace midscope
