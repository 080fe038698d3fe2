// SPDX-License-Identifier: MIT
#include "core/plan/scheme_plans.h"

#include <algorithm>
#include <string>
#include <variant>

#include "core/base/error.h"
#include "core/intervention/scheme_type.h"
#include "core/plan/plan_checks.h"

namespace midscope {
namespace {

// A model that has positions but does not rotate by them gives position schemes nothing to change.
void CheckRotates(const ModelConfig& config, const std::string& term) {
  if (config.positions == PositionKind::kRotary) return;
  throw UsageError(term,
                   std::string("this model has no rotary positions to rescale: ") +
                       UnrotatedText(config.positions),
                   "Channel scaling works on all models");
}

}  // namespace

void ApplyScheme(const Intervention& intervention, const ModelConfig& config, int64_t positions,
                 std::vector<AttentionPlan>& plans) {
  const PositionScheme& scheme = intervention.positions;
  if (std::holds_alternative<NoScheme>(scheme)) return;
  const SchemeType& type = SchemeTypeOf(scheme);
  if (type.needs_rotation) CheckRotates(config, type.term.name);
  type.apply(scheme, {intervention, type.term.name, config, positions, plans});
}

void DividePositions(const SchemePlans& plans, double ratio) {
  for (AttentionPlan& plan : plans.plans) {
    if (plan.inverse_frequency.empty()) continue;
    std::fill(plan.q_ratio.begin(), plan.q_ratio.end(), ratio);
    std::fill(plan.k_ratio.begin(), plan.k_ratio.end(), ratio);
  }
}

void ReplaceFrequencies(const SchemePlans& plans, const RopeFrequencies& frequencies) {
  const ModelConfig& config = plans.config;
  bool any = false;
  for (size_t layer = 0; layer < plans.plans.size(); ++layer) {
    const bool local = layer < config.attention.size() && config.attention[layer].local;
    AttentionPlan& plan = plans.plans[layer];
    if (local || plan.inverse_frequency.empty()) continue;
    any = true;
    plan.inverse_frequency = frequencies.inverse_frequency;
    plan.magnitude = frequencies.magnitude;
  }
  if (any) return;
  throw UsageError(plans.term,
                   "no layer of this model rotates by its base: all have local frequencies",
                   "Take pi or ms-poe, which divide positions");
}

RopeFrequencies FrequenciesWith(const SchemePlans& plans, double base, const RopeScaling& scaling) {
  ModelConfig changed = plans.config;
  changed.rope_base = base;
  changed.rope_scaling = scaling;
  return ModelFrequencies(changed, plans.positions);
}

int64_t TrainedContext(const ModelConfig& config) {
  const double original = config.rope_scaling.original_context;
  return original > 0 ? static_cast<int64_t>(original) : config.trained_context;
}

void ForRotatedLayers(const LayerSet& layers, const SchemePlans& plans,
                      const std::function<void(AttentionPlan& plan)>& change) {
  CheckLayers(layers, plans.config, plans.term);
  bool any = false;
  for (size_t layer = 0; layer < plans.plans.size(); ++layer) {
    AttentionPlan& plan = plans.plans[layer];
    if (!layers.Contains(static_cast<int64_t>(layer)) || plan.inverse_frequency.empty()) continue;
    any = true;
    change(plan);
  }
  if (!any) RefuseUnrotated(plans, layers);
}

void RefuseUnrotated(const SchemePlans& plans, const LayerSet& layers) {
  throw UsageError(plans.term, "the model rotates nothing in layers " + layers.Text() + " anyway",
                   "Name layers with positions");
}

}  // namespace midscope
