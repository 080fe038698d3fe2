// SPDX-License-Identifier: MIT
#include "core/base/text.h"
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/plan/attention_plan.h"
#include "core/run/scoring.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/sample_means.h"

namespace midscope {
namespace {

constexpr const char* kTokensOption = "band-tokens";
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Target {
  std::string name;
  int64_t begin = 0;
  int64_t end = 0;
};

std::vector<Target> FindTargets(const Prompt& prompt, int64_t tokens) {
  const auto keys = static_cast<int64_t>(prompt.ids.size());
  std::vector<Target> targets;
  if (const PromptSpan* gold = prompt.FindSpan("gold"))
    targets.push_back({"gold", gold->token_begin, gold->token_end});
  targets.push_back({"first", 0, std::min(tokens, keys)});
  targets.push_back({"last", std::max<int64_t>(keys - tokens, 0), keys});
  return targets;
}

const ModelConfig& RequireRotation(const ModelConfig& config) {
  if (config.positions == PositionKind::kRotary) return config;
  throw UsageError("probe 'rope_bands'",
                   std::string("the model rotates nothing: ") + UnrotatedText(config.positions),
                   "Take a model with rotary embedding");
}

// Sums the products of the last query and the keys of each target that it can attend to, by rotary
// pair, and over the unrotated dimensions.
class BandSums : public Hook {
 public:
  // `pairs`: [layer], number of rotary pairs.
  BandSums(const ModelConfig& config, const std::vector<Target>& targets, std::vector<size_t> pairs)
      : config_(config), targets_(targets), pairs_(std::move(pairs)) {
    width_ = static_cast<size_t>(config.rope_dimensions / 2);
    const size_t heads = targets.size() * static_cast<size_t>(config.layers * config.heads);
    bands_.resize(heads * width_);
    rest_.resize(heads);
    seen_.resize(targets.size() * static_cast<size_t>(config.layers));
  }

  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    query_ = sequence.prompt_tokens - 1;
    if (point.site == HookSite::kRotatedQuery) return {HookAccess::kRead, {query_, query_ + 1}};
    if (point.site == HookSite::kRotatedKey) return {HookAccess::kRead, {0, query_ + 1}};
    return {};
  }

  // A layer's query is passed to hooks before its keys.
  void OnActivation(HookView& view) override {
    const auto* values = static_cast<const float*>(view.data);
    const auto row = static_cast<size_t>(config_.QueryWidth(view.point.layer));
    if (view.point.site == HookSite::kRotatedQuery) {
      q_.assign(values, values + row);
      return;
    }
    const int64_t window = config_.attention[static_cast<size_t>(view.point.layer)].window;
    for (size_t t = 0; t < targets_.size(); ++t) {
      const int64_t visible = window > 0 ? std::max<int64_t>(query_ - window + 1, 0) : 0;
      const int64_t begin = std::max({targets_[t].begin, view.first_row, visible});
      const int64_t end = std::min(targets_[t].end, view.first_row + view.rows());
      for (int64_t key = begin; key < end; ++key) {
        const auto at = static_cast<size_t>(key - view.first_row) * row;
        Add(t, view.point.layer, std::span(values + at, row));
      }
    }
  }

  size_t HeadAt(size_t target, int64_t layer, int64_t head) const {
    return (target * static_cast<size_t>(config_.layers) + static_cast<size_t>(layer)) *
               static_cast<size_t>(config_.heads) +
           static_cast<size_t>(head);
  }
  // Computes the means over each target's keys, multiplied by `scale`: `bands` [target, layer,
  // head, pair] and `rest`.
  void TakeMeans(double scale, std::vector<double>& bands, std::vector<double>& rest) {
    for (size_t head = 0; head < rest_.size(); ++head) {
      const size_t layer = head / static_cast<size_t>(config_.heads);
      const auto keys = static_cast<double>(seen_[layer]);
      const double factor = keys > 0 ? scale / keys : kNone;
      rest_[head] *= factor;
      const size_t rotated = pairs_[layer % static_cast<size_t>(config_.layers)];
      for (size_t pair = 0; pair < width_; ++pair) {
        double& band = bands_[head * width_ + pair];
        band = pair < rotated ? band * factor : kNone;
      }
    }
    bands = std::move(bands_);
    rest = std::move(rest_);
  }

 private:
  void Add(size_t target, int64_t layer, std::span<const float> key) {
    ++seen_[target * static_cast<size_t>(config_.layers) + static_cast<size_t>(layer)];
    const auto width = static_cast<size_t>(config_.HeadDim(layer));
    const size_t pairs = pairs_[static_cast<size_t>(layer)];
    for (int64_t head = 0; head < config_.heads; ++head) {
      const size_t at = HeadAt(target, layer, head);
      const float* q = q_.data() + static_cast<size_t>(head) * width;
      const float* k = key.data() + static_cast<size_t>(head) * width;
      const auto product = [&](size_t i) { return static_cast<double>(q[i]) * k[i]; };
      for (size_t pair = 0; pair < pairs; ++pair)
        bands_[at * width_ + pair] += product(pair) + product(pair + pairs);
      for (size_t i = 2 * pairs; i < width; ++i) rest_[at] += product(i);
    }
  }

  const ModelConfig& config_;
  const std::vector<Target>& targets_;
  std::vector<size_t> pairs_;
  size_t width_ = 0;
  int64_t query_ = 0;
  std::vector<float> q_;
  std::vector<double> bands_;  // [target, layer, head, pair]
  std::vector<double> rest_;   // [target, layer, head]
  std::vector<int64_t> seen_;  // [target, layer]: number of keys
};

std::vector<size_t> PairsOf(const std::vector<AttentionPlan>& plans) {
  std::vector<size_t> pairs;
  pairs.reserve(plans.size());
  for (const AttentionPlan& plan : plans) pairs.push_back(plan.inverse_frequency.size());
  return pairs;
}

int64_t TokensOfRun(const ProbeInput& input) {
  return static_cast<int64_t>(IdsToScore(input.prompt.ids, input.prompt.answer_ids).size());
}

class BandsProbe : public Probe {
 public:
  explicit BandsProbe(const ProbeInput& input)
      : config_(RequireRotation(input.decoder.config())),
        targets_(FindTargets(input.prompt, input.options.Integer(kTokensOption))),
        plans_(
            CompilePlans(input.intervention, config_, input.prompt_tokens(), TokensOfRun(input))),
        sums_(config_, targets_, PairsOf(plans_)) {}

  std::vector<Hook*> Hooks() override { return {&sums_}; }

  Record Finish(const RunResult&) override {
    std::vector<double> bands;
    std::vector<double> rest;
    sums_.TakeMeans(plans_.front().logit_scale, bands, rest);
    const int64_t pairs = config_.rope_dimensions / 2;
    std::vector<double> logits = rest;
    for (size_t i = 0; i < bands.size(); ++i) {
      if (!std::isnan(bands[i])) logits[i / static_cast<size_t>(pairs)] += bands[i];
    }
    std::vector<std::string> names = NamesIn(targets_);
    Record record;
    record.name = "rope_bands";
    record.axes = {LabelledAxis("target", names), CountedAxis("layer", config_.layers),
                   CountedAxis("head", config_.heads), CountedAxis("rotary_pair", pairs)};
    record.arrays = {{"rope_bands",
                      {"target", "layer", "head", "rotary_pair"},
                      std::move(bands),
                      "logits",
                      "the rotary pair's part of the last query's logit towards the target's "
                      "tokens, their mean; pair 0 turns fastest"},
                     {"unrotated_logit",
                      {"target", "layer", "head"},
                      std::move(rest),
                      "logits",
                      "the part of dimensions that are not rotated"},
                     {"target_logit",
                      {"target", "layer", "head"},
                      std::move(logits),
                      "logits",
                      "the sum of both: the logit before soft cap, temperature and softmax"},
                     {"wavelength",
                      {"layer", "rotary_pair"},
                      Wavelengths(static_cast<size_t>(pairs)),
                      "tokens",
                      "tokens in which the pair turns once, before ratios of heads"}};
    for (const Target& target : targets_) {
      record.attributes[target.name + "_token_begin"] = target.begin;
      record.attributes[target.name + "_token_end"] = target.end;
    }
    record.signal = "rope_bands";
    return record;
  }

 private:
  std::vector<double> Wavelengths(size_t pairs) const {
    std::vector<double> wavelengths;
    for (const AttentionPlan& plan : plans_) {
      for (size_t pair = 0; pair < pairs; ++pair) {
        const bool turns = pair < plan.inverse_frequency.size() && plan.inverse_frequency[pair] > 0;
        wavelengths.push_back(turns ? 2 * std::numbers::pi / plan.inverse_frequency[pair] : kNone);
      }
    }
    return wavelengths;
  }

  const ModelConfig& config_;
  std::vector<Target> targets_;
  std::vector<AttentionPlan> plans_;
  BandSums sums_;
};

}  // namespace

Record RopeBandsByPlace(const Record& stacked) {
  const auto samples = static_cast<size_t>(AxisOf(stacked, "sample").size);
  Record record;
  record.name = "rope_bands_by_place";
  for (const char* axis : {"place", "target", "layer", "head", "rotary_pair"})
    record.axes.push_back(AxisOf(stacked, axis));
  record.arrays = {{"mean_rope_bands",
                    {"place", "target", "layer", "head", "rotary_pair"},
                    MeanOverSamples(ArrayValues<double>(stacked, "rope_bands"), samples),
                    "logits",
                    "the rotary pair's part of the logit, by place, mean over samples"},
                   {"mean_target_logit",
                    {"place", "target", "layer", "head"},
                    MeanOverSamples(ArrayValues<double>(stacked, "target_logit"), samples),
                    "logits",
                    "the last query's logit towards the target, by place, mean over samples"}};
  record.signal = "mean_rope_bands";
  return record;
}

ProbeType RopeBandsProbe() {
  ProbeType type;
  type.name = "rope_bands";
  type.summary =
      "the last query's logit towards gold, first and last tokens by rotary pair: which "
      "frequencies make a head look near or far";
  type.source =
      "rotary embedding, arXiv 2104.09864, Eq. 16: the logit is a sum over pairs; use of "
      "frequencies: Barbero et al., 'Round and round we go!', arXiv 2410.06205";
  type.departures =
      "the paper measures norms of queries and keys by frequency; here it is the signed part of "
      "the logit that each pair makes";
  type.limits =
      "refused for models that rotate nothing (ALiBi). Logits are before soft cap, temperature, "
      "boosts and masks; keys outside a layer's sliding window are left out. Heads are query heads "
      "(GQA). Under a position scheme the positions are those of the head, far keys included; "
      "under infini the tokens of earlier segments count as if they were read";
  type.options = {TokensParameter(
      kTokensOption, "how many tokens rope_bands takes as the first and as the last ones", 1, 4)};
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<BandsProbe>(input); };
  type.summarise = [](const Record& stacked) { return std::vector{RopeBandsByPlace(stacked)}; };
  return type;
}

}  // namespace midscope
