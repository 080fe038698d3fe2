// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <utility>
#include <variant>

#include "core/base/parameter.h"
#include "core/base/record_names.h"
#include "core/base/text.h"
#include "core/decoder/captures.h"
#include "core/plan/attention_plan.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/sample_means.h"

namespace midscope {
namespace {

constexpr const char* kAlphaOption = "awareness-alpha";

class AwarenessProbe : public Probe {
 public:
  explicit AwarenessProbe(const ProbeInput& input)
      : config_(input.decoder.config()),
        threshold_(AwarenessThresholdOf(input)),
        awareness_(config_) {}

  std::vector<Hook*> Hooks() override { return {&awareness_}; }

  Record Finish(const RunResult&) override {
    return PositionAwarenessRecord(config_, threshold_, awareness_.score(threshold_));
  }

 private:
  const ModelConfig& config_;
  kernels::AwarenessThreshold threshold_;
  PositionAwareness awareness_;
};

}  // namespace

Record PositionAwarenessRecord(const ModelConfig& config,
                               const kernels::AwarenessThreshold& threshold,
                               std::vector<float> scores) {
  const bool greater = threshold.rule == kernels::ThresholdRule::kGreater;
  Record record;
  record.name = kPositionAwarenessRecord;
  record.axes = {CountedAxis("layer", config.layers), CountedAxis("head", config.heads)};
  record.arrays = {{kPositionAwarenessScore,
                    {"layer", "head"},
                    std::move(scores),
                    "",
                    std::string("share of keys whose weight from the last prompt token, before "
                                "rotation, is ") +
                        (greater ? "greater than " : "at least ") + NumberText(threshold.alpha) +
                        " / tokens (Ms-PoE, arXiv 2403.04797)"}};
  record.attributes["threshold"] = ThresholdText(threshold);
  record.signal = kPositionAwarenessScore;
  return record;
}

Record AwarenessByPlace(const Record& stacked) {
  const auto& scores = ArrayValues<float>(stacked, kPositionAwarenessScore);
  const std::vector<double> values(scores.begin(), scores.end());
  const auto samples = static_cast<size_t>(AxisOf(stacked, "sample").size);
  Record record;
  record.name = "position_awareness_by_place";
  record.axes = {AxisOf(stacked, "place"), AxisOf(stacked, "layer"), AxisOf(stacked, "head")};
  record.arrays = {{"mean_position_awareness_score",
                    {"place", "layer", "head"},
                    MeanOverSamples(values, samples),
                    "",
                    "position-awareness score (Ms-PoE, Eq. 1), by place, mean over samples"},
                   HalfWidthOverSamples("mean_position_awareness_score", {"place", "layer", "head"},
                                        values, samples)};
  record.signal = "mean_position_awareness_score";
  return record;
}

kernels::AwarenessThreshold AwarenessThresholdOf(const ProbeInput& input) {
  kernels::AwarenessThreshold threshold = AwarenessRule(input.intervention);
  const auto* alpha = std::get_if<double>(&input.options.Value(kAlphaOption));
  if (alpha) threshold.alpha = *alpha;
  return threshold;
}

std::string ThresholdText(const kernels::AwarenessThreshold& threshold) {
  const bool greater = threshold.rule == kernels::ThresholdRule::kGreater;
  return (greater ? "> " : ">= ") + NumberText(threshold.alpha) + "/tokens";
}

Parameter AlphaParameter(const std::string& name, const std::string& help) {
  Parameter alpha = NumberParameter(name, help, 0.001, 1e6);
  alpha.choices = {"auto"};
  alpha.default_value = std::string("auto");
  return alpha;
}

ProbeType PositionAwarenessProbe() {
  ProbeType type;
  type.name = kPositionAwarenessRecord;
  type.summary = "Ms-PoE's position-awareness score of every head";
  type.source = "Ms-PoE, arXiv 2403.04797, Eq. 1, with alpha = 3";
  type.departures =
      "the public code counts keys over 3 / tokens, the paper those that reach it: what --with "
      "follows the score follows (mode=code); weights are float32, not the model's dtype";
  type.limits =
      "of query heads (GQA); q and k before rotation, without ALiBi's bias; head_scores gives the "
      "rotated row too, counted_keys the keys themselves";
  type.options = {AlphaParameter(kAlphaOption,
                                 "alpha of position_awareness and counted_keys: keys whose weight "
                                 "reaches alpha times the mean count; auto: that of ms-poe in the "
                                 "setting, else 3")};
  type.make = [](const ProbeInput& input) { return std::make_unique<AwarenessProbe>(input); };
  type.summarise = [](const Record& stacked) { return std::vector{AwarenessByPlace(stacked)}; };
  return type;
}

}  // namespace midscope
