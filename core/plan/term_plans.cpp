// SPDX-License-Identifier: MIT
#include "core/plan/term_plans.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/plan/plan_changes.h"

namespace midscope {
namespace {

// Throws Error for a model with positions but without rotation, in which position schemes have
// nothing to change.
void CheckRotates(const ModelConfig& config, const std::string& term) {
  if (config.positions == PositionKind::kRotary) return;
  throw UsageError(term,
                   std::string("this model has no rotary positions to rescale: ") +
                       UnrotatedText(config.positions),
                   "Channel scaling works on all models");
}

// Self-Extend refuses the term `move` itself; this check covers every edit.
void CheckNearFar(const std::string& term, const std::vector<AttentionPlan>& plans) {
  for (const AttentionPlan& plan : plans) {
    if (!plan.near_far || plan.edits.moved.empty()) continue;
    throw UsageError(term, "it moves tokens, which does not go together with self-extend",
                     "Leave one of the two out");
  }
}

// which: "layer 3 has". `mixes`: whether one of these layers has a mixer.
[[noreturn]] void RefuseWithoutAttention(const TermPlans& plans, const std::string& which,
                                         bool mixes) {
  std::string attending;
  for (int64_t layer = 0; layer < plans.config.layers; ++layer) {
    if (!plans.config.HasAttention(layer)) continue;
    attending += (attending.empty() ? "" : ", ") + std::to_string(layer);
  }
  throw UsageError(plans.term,
                   which + (mixes ? fmt::format(" no attention: {} mixes its tokens instead",
                                                plans.config.Mixer().kind)
                                  : " no attention, only an MLP"),
                   "This model attends in layers " + attending);
}

}  // namespace

void ApplyTerms(TermStage stage, const Intervention& intervention, const ModelConfig& config,
                int64_t prompt_tokens, int64_t positions, std::vector<AttentionPlan>& plans) {
  for (const Term& term : intervention.terms) {
    const TermType& type = term.type();
    if (type.stage != stage) continue;
    if (type.needs_rotation) CheckRotates(config, type.name);
    type.apply(term, {intervention, type.name, config, prompt_tokens, positions, plans});
    CheckNearFar(type.name, plans);
  }
}

void DividePositions(const TermPlans& plans, double ratio) {
  for (AttentionPlan& plan : plans.plans) {
    if (plan.inverse_frequency.empty()) continue;
    std::fill(plan.q_ratio.begin(), plan.q_ratio.end(), ratio);
    std::fill(plan.k_ratio.begin(), plan.k_ratio.end(), ratio);
  }
}

void ReplaceFrequencies(const TermPlans& plans, const RopeFrequencies& frequencies) {
  const ModelConfig& config = plans.config;
  bool any = false;
  for (size_t layer = 0; layer < plans.plans.size(); ++layer) {
    AttentionPlan& plan = plans.plans[layer];
    if (config.AttentionOf(static_cast<int64_t>(layer)).local || plan.inverse_frequency.empty())
      continue;
    any = true;
    plan.inverse_frequency = frequencies.inverse_frequency;
    StopPairs(config, &plan.inverse_frequency);
    plan.magnitude = frequencies.magnitude;
  }
  if (any) return;
  throw UsageError(plans.term,
                   "no layer of this model rotates by its base: all have local frequencies",
                   "Take pi or ms-poe, which divide positions");
}

RopeFrequencies FrequenciesWith(const TermPlans& plans, double base, const RopeScaling& scaling) {
  ModelConfig changed = plans.config;
  changed.rope_base = base;
  changed.rope_scaling = scaling;
  return ModelFrequencies(changed, plans.positions);
}

int64_t TrainedContext(const ModelConfig& config) {
  const double original = config.rope_scaling.original_context;
  return original > 0 ? static_cast<int64_t>(original) : config.trained_context;
}

void ForRotatedLayers(const LayerSet& layers, const TermPlans& plans,
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

void RefuseUnrotated(const TermPlans& plans, const LayerSet& layers) {
  throw UsageError(plans.term, "the model rotates nothing in layers " + layers.Text() + " anyway",
                   "Name layers with positions");
}

void ForLayers(const LayerSet& layers, const TermPlans& plans,
               const std::function<void(AttentionPlan& plan, int64_t layer)>& change) {
  CheckLayers(layers, plans.config, plans.term);
  for (int64_t layer = 0; layer < plans.config.layers; ++layer) {
    if (layers.Contains(layer)) change(plans.plans[static_cast<size_t>(layer)], layer);
  }
}

void ForAttentionLayers(const LayerSet& layers, const TermPlans& plans,
                        const std::function<void(AttentionPlan& plan, int64_t layer)>& change) {
  bool any = false;
  bool mixes = false;
  ForLayers(layers, plans, [&](AttentionPlan& plan, int64_t layer) {
    mixes = mixes || plans.config.HasMixer(layer);
    if (!plans.config.HasAttention(layer)) return;
    any = true;
    change(plan, layer);
  });
  if (!any) RefuseWithoutAttention(plans, "layers " + layers.Text() + " have", mixes);
}

RowRange RowsOf(const ChosenRows& rows, const LayerSet& layers, const TermPlans& plans) {
  if (rows.by_rule) return RowsOf(rows.rule, plans.prompt_tokens);
  CheckSpan(rows.passage, layers, plans);
  return {rows.passage.begin, rows.passage.end};
}

void CheckSpan(const TokenSpan& span, const LayerSet& layers, const TermPlans& plans) {
  CheckLayers(layers, plans.config, plans.term);
  if (!span.name.empty()) {
    throw UsageError(plans.term, "this run knows no passage 'span=" + span.name + "'",
                     "Give its tokens, such as span=400:600");
  }
  if (span.begin < 0 || span.begin >= span.end || span.end > plans.prompt_tokens) {
    throw UsageError(plans.term,
                     fmt::format("the prompt has no tokens {}:{}", span.begin, span.end),
                     fmt::format("It has tokens 0:{}", plans.prompt_tokens));
  }
}

void ForHeads(const std::vector<HeadName>& names, const TermPlans& plans,
              const std::function<void(AttentionPlan& plan, int64_t layer, int64_t head)>& change) {
  const ModelConfig& config = plans.config;
  for (const HeadName& name : names) {
    const bool every = name.layer == kEveryLayer;
    const bool one = !every && name.layer < config.layers;
    const int64_t key_heads = one ? config.KeyValueHeads(name.layer) : config.key_value_heads;
    const int64_t count = name.group ? key_heads : config.heads;
    const bool to_the_end = name.more >= kEveryHeadAfter;
    const int64_t last = to_the_end ? count - 1 : name.head + name.more;
    if (name.layer >= config.layers || name.head >= count || last >= count) {
      throw UsageError(plans.term, "the model has no " + name.Text(),
                       fmt::format("It has layers 0-{} with heads H0-H{} and key heads G0-G{}",
                                   config.layers - 1, config.heads - 1, key_heads - 1));
    }
    const int64_t members = name.group ? config.heads / key_heads : 1;
    if (!every && !config.HasAttention(name.layer))
      RefuseWithoutAttention(plans, fmt::format("layer {} has", name.layer),
                             config.HasMixer(name.layer));
    const int64_t last_layer = every ? config.layers - 1 : name.layer;
    for (int64_t layer = every ? 0 : name.layer; layer <= last_layer; ++layer) {
      if (!config.HasAttention(layer)) continue;
      for (int64_t head = name.head * members; head < (last + 1) * members; ++head)
        change(plans.plans[static_cast<size_t>(layer)], layer, head);
    }
  }
}

void ForLayersAndHeads(
    const LayerSet& layers, const std::vector<HeadName>& names, const TermPlans& plans,
    const std::function<void(AttentionPlan& plan, const LayerHeads& heads)>& change) {
  const auto count = static_cast<size_t>(plans.config.heads);
  std::vector<LayerHeads> heads(static_cast<size_t>(plans.config.layers), LayerHeads(count, 0));
  ForHeads(names, plans, [&](AttentionPlan&, int64_t layer, int64_t head) {
    heads[static_cast<size_t>(layer)][static_cast<size_t>(head)] = 1;
  });
  ForAttentionLayers(layers, plans, [&](AttentionPlan& plan, int64_t layer) {
    LayerHeads& of_layer = heads[static_cast<size_t>(layer)];
    const auto named = std::count(of_layer.begin(), of_layer.end(), 1);
    if (named == plans.config.heads) of_layer.clear();
    if (named > 0) change(plan, of_layer);
  });
}

void RefuseHeadTwice(const TermPlans& plans, int64_t layer, int64_t head) {
  throw UsageError(plans.term, HeadName{layer, head}.Text() + " is changed twice",
                   "Name each head once");
}

}  // namespace midscope
