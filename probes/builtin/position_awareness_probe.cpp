// SPDX-License-Identifier: MIT
#include "probes/builtin/position_awareness_probe.h"

#include <utility>

#include "core/base/record_names.h"
#include "core/decoder/captures.h"
#include "core/plan/awareness_rule.h"
#include "probes/base/record_axes.h"

namespace midscope {
namespace {

class AwarenessProbe : public Probe {
 public:
  explicit AwarenessProbe(const ProbeInput& input)
      : config_(input.decoder.config()),
        rule_(AwarenessRule(input.intervention)),
        awareness_(config_, rule_) {}

  std::vector<Hook*> Hooks() override { return {&awareness_}; }

  Record Finish(const RunResult&) override {
    return PositionAwarenessRecord(config_, rule_, awareness_.score());
  }

 private:
  const ModelConfig& config_;
  kernels::ThresholdRule rule_;
  PositionAwareness awareness_;
};

}  // namespace

Record PositionAwarenessRecord(const ModelConfig& config, kernels::ThresholdRule rule,
                               std::vector<float> scores) {
  const bool greater = rule == kernels::ThresholdRule::kGreater;
  Record record;
  record.name = kPositionAwarenessRecord;
  record.axes = {CountedAxis("layer", config.layers), CountedAxis("head", config.heads)};
  record.arrays = {{kPositionAwarenessScore,
                    {"layer", "head"},
                    std::move(scores),
                    "",
                    std::string("share of keys whose weight from the last prompt token, before "
                                "rotation, is ") +
                        (greater ? "greater than" : "at least") +
                        " 3 / tokens (Ms-PoE, arXiv 2403.04797)"}};
  record.attributes["threshold"] = std::string(greater ? "> 3/tokens" : ">= 3/tokens");
  record.signal = kPositionAwarenessScore;
  return record;
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
      "rotated row too";
  type.make = [](const ProbeInput& input) { return std::make_unique<AwarenessProbe>(input); };
  return type;
}

}  // namespace midscope
