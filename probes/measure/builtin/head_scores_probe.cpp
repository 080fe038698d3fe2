// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/record.h"
#include "core/base/text.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"
#include "kernels/position_awareness.h"
#include "probes/base/attention_row.h"
#include "probes/base/records.h"
#include "probes/measure/statistics/rank_statistics.h"

namespace midscope {
namespace {

using kernels::ThresholdRule;

constexpr const char* kAlphaOption = "score-alpha";
constexpr const char* kSparseOption = "sparse-below";
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Position-awareness scores of the rows before or after rotation; [layer, head].
struct RowScores {
  RowScores(size_t heads, double given_alpha, double given_sparse)
      : alpha(given_alpha),
        sparse(given_sparse),
        at_least(heads),
        greater(heads),
        not_sparse(heads),
        entropy(heads) {}

  void Count(size_t index, std::span<const float> row) {
    const auto keys = static_cast<int64_t>(row.size());
    kernels::CountAttendedKeys(row.data(), 1, keys, {ThresholdRule::kAtLeast, alpha},
                               &at_least[index]);
    kernels::CountAttendedKeys(row.data(), 1, keys, {ThresholdRule::kGreater, alpha},
                               &greater[index]);
    kernels::CountAttendedKeys(row.data(), 1, keys, {ThresholdRule::kAtLeast, sparse},
                               &not_sparse[index]);
    entropy[index] = AttentionEntropy(row);
  }

  double alpha;
  double sparse;
  std::vector<int64_t> at_least;
  std::vector<int64_t> greater;
  std::vector<int64_t> not_sparse;  // number of keys with at least sparse / tokens
  std::vector<double> entropy;
};

Intervention ReadRatioTerm(const OptionSet& options) {
  Intervention scheme = ParseIntervention(options.Text("ratios-under"));
  if (!scheme.Find<MsPoe>()) {
    throw UsageError("option --ratios-under", "it is not an ms-poe setting",
                     "Give one such as 'ms-poe(min=1.2, max=1.8)'");
  }
  const auto* alpha = std::get_if<double>(&options.Value(kAlphaOption));
  if (alpha) scheme.Change<MsPoe>([alpha](MsPoe& ms_poe) { ms_poe.alpha = *alpha; });
  return scheme;
}

class ScoresProbe : public Probe {
 public:
  explicit ScoresProbe(const ProbeInput& input)
      : config_(input.decoder.config()),
        keys_(input.prompt_tokens()),
        rule_(input.options.Text("score-rule") == "code" ? ThresholdRule::kGreater
                                                         : ThresholdRule::kAtLeast),
        scheme_(ReadRatioTerm(input.options)),
        plain_(static_cast<size_t>(config_.layers * config_.heads), scheme_.Find<MsPoe>()->alpha,
               input.options.Number(kSparseOption)),
        rotated_(plain_),
        plain_rows_(HookSite::kPatternUnrotated, 1,
                    [this](auto layer, auto head, auto, auto row) {
                      plain_.Count(Index(layer, head), row);
                    }),
        rotated_rows_(HookSite::kPattern, 1, [this](auto layer, auto head, auto, auto row) {
          rotated_.Count(Index(layer, head), row);
        }) {
    // Models without position schemes (ALiBi) have no ratios; for other models, errors are thrown.
    if (config_.positions == PositionKind::kRotary) {
      plans_ = CompilePlans(scheme_, config_, keys_);
    }
  }

  std::vector<Hook*> Hooks() override { return {&plain_rows_, &rotated_rows_}; }

  Record Finish(const RunResult&) override {
    Record record;
    record.name = "head_scores";
    record.axes = {CountedAxis("layer", config_.layers), CountedAxis("head", config_.heads)};
    const auto add = [&](const std::string& name, ArrayData data, const std::string& unit,
                         const std::string& description) {
      record.arrays.push_back({name, {"layer", "head"}, std::move(data), unit, description});
    };
    const std::string share = NumberText(plain_.alpha) + " / tokens";
    add("score_at_least", Shares(plain_.at_least), "",
        "share of keys with at least " + share + ", before rotation (Ms-PoE, Eq. 1)");
    add("score_greater", Shares(plain_.greater), "",
        "share of keys with more than " + share + ", before rotation (Ms-PoE's public code)");
    add("score_at_least_rotated", Shares(rotated_.at_least), "",
        "share of keys with at least " + share + ", the row as the model uses it");
    add("score_greater_rotated", Shares(rotated_.greater), "",
        "share of keys with more than " + share + ", the row as the model uses it");
    add("row_entropy", plain_.entropy, "nats", "entropy of the row before rotation");
    add("row_entropy_rotated", rotated_.entropy, "nats", "entropy of the row as the model uses it");
    const std::string sparse = NumberText(plain_.sparse) + " / tokens";
    add("sparse_share", SharesBelow(plain_.not_sparse), "",
        "share of keys with less than " + sparse + ", before rotation");
    add("sparse_share_rotated", SharesBelow(rotated_.not_sparse), "",
        "share of keys with less than " + sparse + ", the row as the model uses it");
    add("head_rank", Ranks(), kRankFromZero,
        "place in the layer's order by score, 0 the most aware; stable");
    const HeadRatios ratios = Ratios();
    add("ratio_under", ratios.q, "",
        "by what the head's positions would be divided under ratios_under, by this run's scores");
    add("key_ratio_under", ratios.k, "", "and its keys' positions (differs in mode code with GQA)");
    record.attributes = {{"threshold", ThresholdText({rule_, plain_.alpha})},
                         {"ratios_under", PrintIntervention(scheme_)}};
    record.signal = rule_ == ThresholdRule::kGreater ? "score_greater" : "score_at_least";
    return record;
  }

 private:
  size_t Index(int64_t layer, int64_t head) const {
    return static_cast<size_t>(layer * config_.heads + head);
  }

  std::vector<double> Shares(const std::vector<int64_t>& counts) const {
    std::vector<double> shares;
    shares.reserve(counts.size());
    for (const int64_t count : counts) {
      shares.push_back(static_cast<double>(count) / static_cast<double>(keys_));
    }
    return shares;
  }

  std::vector<double> SharesBelow(const std::vector<int64_t>& counts) const {
    std::vector<double> shares = Shares(counts);
    for (double& share : shares) share = 1 - share;
    return shares;
  }

  template <typename T>
  std::span<const T> OfLayer(const std::vector<T>& values, int64_t layer) const {
    return std::span(values).subspan(Index(layer, 0), static_cast<size_t>(config_.heads));
  }

  std::vector<int64_t> Ranks() const {
    const auto& counts = rule_ == ThresholdRule::kGreater ? plain_.greater : plain_.at_least;
    std::vector<int64_t> ranks;
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      const std::vector<int64_t> of_layer = StableRanks(OfLayer(counts, layer));
      ranks.insert(ranks.end(), of_layer.begin(), of_layer.end());
    }
    return ranks;
  }

  HeadRatios RatiosOfLayer(const RatioRule& rule, int64_t layer) const {
    if (rule.scheme.order == MsPoeOrder::kEntropy)
      return ResolveRatios(rule, OfLayer(plain_.entropy, layer), config_.KeyValueHeads(layer));
    const bool code = rule.scheme.mode == MsPoeMode::kCode;
    return ResolveRatios(rule, OfLayer(code ? plain_.greater : plain_.at_least, layer),
                         config_.KeyValueHeads(layer));
  }

  HeadRatios Ratios() const {
    const size_t all = plain_.at_least.size();
    if (plans_.empty()) return {std::vector(all, kNone), std::vector(all, kNone)};
    HeadRatios ratios;
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      const AttentionPlan& plan = plans_[static_cast<size_t>(layer)];
      HeadRatios of_layer{plan.q_ratio, plan.k_ratio};
      if (plan.ratio_rule) {
        of_layer = RatiosOfLayer(*plan.ratio_rule, layer);
      }
      ratios.q.insert(ratios.q.end(), of_layer.q.begin(), of_layer.q.end());
      ratios.k.insert(ratios.k.end(), of_layer.k.begin(), of_layer.k.end());
    }
    return ratios;
  }

  const ModelConfig& config_;
  int64_t keys_;
  ThresholdRule rule_;
  Intervention scheme_;
  std::vector<AttentionPlan> plans_;  // [layer], plans under scheme_; empty: no position schemes
  RowScores plain_;
  RowScores rotated_;
  PatternRows plain_rows_;
  PatternRows rotated_rows_;
};

// Returns a correlation between two prompts of the scores of heads [first, first + count), averaged
// over pairs of prompts; scores: [prompt, head of any layer].
template <typename F>
double OverPairs(const std::vector<double>& scores, size_t heads, size_t first, size_t count,
                 const F& correlation) {
  const size_t prompts = scores.size() / heads;
  const auto of_prompt = [&](size_t prompt) {
    return std::span(scores).subspan(prompt * heads + first, count);
  };
  std::vector<double> pairs;
  for (size_t a = 0; a < prompts; ++a) {
    for (size_t b = a + 1; b < prompts; ++b) {
      pairs.push_back(correlation(of_prompt(a), of_prompt(b)));
    }
  }
  return MeanOfNumbers(pairs);
}

// Returns mean and standard deviation over prompts of ranks [prompt, head of any layer].
std::pair<std::vector<double>, std::vector<double>> Spread(const std::vector<int64_t>& ranks,
                                                           size_t heads) {
  if (heads == 0) return {};
  const size_t rows = ranks.size() / heads;
  const auto prompts = static_cast<double>(rows);
  std::vector<double> mean(heads);
  std::vector<double> deviation(heads);
  for (size_t i = 0; i < ranks.size(); ++i) {
    mean[i % heads] += static_cast<double>(ranks[i]) / prompts;
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    const double from_mean = static_cast<double>(ranks[i]) - mean[i % heads];
    deviation[i % heads] += from_mean * from_mean / (prompts - 1);
  }
  for (double& value : deviation) value = std::sqrt(value);
  return {mean, deviation};
}

}  // namespace

Record HeadScoreStability(const Record& stacked) {
  const Axis& layer_axis = AxisOf(stacked, "layer");
  const Axis& head_axis = AxisOf(stacked, "head");
  const auto layers = static_cast<size_t>(layer_axis.size);
  const auto of_layer = static_cast<size_t>(head_axis.size);
  const size_t heads = layers * of_layer;
  const auto& scores = ArrayValues<double>(stacked, stacked.signal);
  std::vector<double> spearman(layers);
  std::vector<double> kendall(layers);
  for (size_t layer = 0; layer < layers; ++layer) {
    const size_t first = layer * of_layer;
    spearman[layer] = OverPairs(scores, heads, first, of_layer, SpearmanCorrelation);
    kendall[layer] = OverPairs(scores, heads, first, of_layer, KendallTau);
  }
  auto [rank_mean, rank_deviation] = Spread(ArrayValues<int64_t>(stacked, "head_rank"), heads);
  Record record;
  record.name = "head_score_stability";
  record.axes = {layer_axis, head_axis};
  record.arrays = {
      {"score_spearman",
       {"layer"},
       spearman,
       "",
       "Spearman's correlation of a layer's heads by score, mean over pairs of prompts"},
      {"score_kendall", {"layer"}, kendall, "", "the same, Kendall's tau-b"},
      {"rank_mean",
       {"layer", "head"},
       std::move(rank_mean),
       kRankFromZero,
       "head_rank, mean over prompts"},
      {"rank_deviation",
       {"layer", "head"},
       std::move(rank_deviation),
       "",
       "head_rank, standard deviation over prompts"}};
  const auto prompts = static_cast<int64_t>(scores.size() / heads);
  record.attributes = {
      {"pairs", prompts * (prompts - 1) / 2},
      {"spearman_all_heads", OverPairs(scores, heads, 0, heads, SpearmanCorrelation)},
      {"kendall_all_heads", OverPairs(scores, heads, 0, heads, KendallTau)}};
  record.signal = "score_spearman";
  return record;
}

ProbeType HeadScoresProbe() {
  const Parameter rule = ChoiceParameter(
      "score-rule", "which keys count for head_rank: >= 3/tokens (paper) or > 3/tokens (code)",
      {"paper", "code"});
  Parameter under = TextParameter(
      "ratios-under",
      "show the ratios that head_scores' heads would get under this ms-poe setting; every layer is "
      "shown, as in the paper, unless it says otherwise");
  under.default_value = std::string("ms-poe(min=1.2, max=1.8, first_layer=0)");

  const Parameter sparse = NumberParameter(kSparseOption,
                                           "sparse_share of head_scores: share of keys whose "
                                           "weight is below this multiple of 1 / tokens",
                                           1e-6, 1e6, 1);

  ProbeType type;
  type.name = "head_scores";
  type.summary =
      "position-awareness by every rule, entropies, sparsity, ranks and Ms-PoE ratios of every "
      "head; over prompts: how stable the order is";
  type.source =
      "Ms-PoE, arXiv 2403.04797, Eq. 1 (score), Eq. 2 (ratios), Table 3 (entropy), "
      "Sec. 3.2 (most scores are near zero)";
  type.departures =
      "the paper gives no number for sparsity: the threshold is this program's; the public code "
      "counts > instead of >=, thresholds weights cast to the model's dtype "
      "(here float32), divides by the number of heads instead of one less, and indexes ratios by "
      "argsort instead of rank (mode=code does the last two); the entropy order is not released";
  type.limits =
      "GQA: the scores are of query heads; mode=group gives one ratio to the heads that share "
      "keys, and mode=code gives keys the ratio of the first of them. ALiBi: no ratios (NaN), the "
      "row before rotation has no bias. Layers without positions: both rows are equal, ratio 1. "
      "Ratios are by this run's scores: under the setting itself, layers above the first changed "
      "one see other input";
  type.options = {rule, under,
                  AlphaParameter(kAlphaOption,
                                 "alpha of head_scores: keys whose weight reaches alpha times the "
                                 "mean count; auto: that of --ratios-under, 3 where it has none"),
                  sparse};
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<ScoresProbe>(input); };
  type.summarise = [](const Record& stacked) {
    return std::vector<Record>{HeadScoreStability(stacked)};
  };
  return type;
}

}  // namespace midscope
