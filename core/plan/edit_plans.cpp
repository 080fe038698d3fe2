// SPDX-License-Identifier: MIT
#include "core/plan/edit_plans.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/intervention/edit_type.h"

namespace midscope {
namespace {

// Self-Extend refuses the term `move` itself; this holds for every edit.
void CheckNearFar(const std::string& term, const std::vector<AttentionPlan>& plans) {
  for (const AttentionPlan& plan : plans) {
    if (!plan.near_far || plan.edits.moved.empty()) continue;
    throw UsageError(term, "it moves tokens, which does not go together with self-extend",
                     "Leave one of the two out");
  }
}

}  // namespace

void ApplyEdits(EditTime time, const Intervention& intervention, const ModelConfig& config,
                int64_t prompt_tokens, std::vector<AttentionPlan>& plans) {
  for (const EditType& type : EditTypes()) {
    if (type.before_schemes != (time == EditTime::kBeforeSchemes)) continue;
    type.apply(intervention, {intervention, type.term.name, config, prompt_tokens, plans});
    CheckNearFar(type.term.name, plans);
  }
}

void ForLayers(const LayerSet& layers, const EditPlans& plans,
               const std::function<void(AttentionPlan& plan, int64_t layer)>& change) {
  CheckLayers(layers, plans.config, plans.term);
  for (int64_t layer = 0; layer < plans.config.layers; ++layer) {
    if (layers.Contains(layer)) change(plans.plans[static_cast<size_t>(layer)], layer);
  }
}

RowRange RowsOf(const ChosenRows& rows, const LayerSet& layers, const EditPlans& plans) {
  if (rows.by_rule) return RowsOf(rows.rule, plans.prompt_tokens);
  CheckSpan(rows.passage, layers, plans);
  return {rows.passage.begin, rows.passage.end};
}

void CheckSpan(const TokenSpan& span, const LayerSet& layers, const EditPlans& plans) {
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

void ForHeads(const std::vector<HeadName>& names, const EditPlans& plans,
              const std::function<void(AttentionPlan& plan, int64_t layer, int64_t head)>& change) {
  const ModelConfig& config = plans.config;
  for (const HeadName& name : names) {
    const int64_t count = name.group ? config.key_value_heads : config.heads;
    const bool to_the_end = name.more >= kEveryHeadAfter;
    const int64_t last = to_the_end ? count - 1 : name.head + name.more;
    if (name.layer >= config.layers || name.head >= count || last >= count) {
      throw UsageError(
          plans.term, "the model has no " + name.Text(),
          fmt::format("It has layers 0-{} with heads H0-H{} and key heads G0-G{}",
                      config.layers - 1, config.heads - 1, config.key_value_heads - 1));
    }
    const int64_t members = name.group ? config.heads_per_key_value_head() : 1;
    const bool every = name.layer == kEveryLayer;
    const int64_t last_layer = every ? config.layers - 1 : name.layer;
    for (int64_t layer = every ? 0 : name.layer; layer <= last_layer; ++layer) {
      for (int64_t head = name.head * members; head < (last + 1) * members; ++head)
        change(plans.plans[static_cast<size_t>(layer)], layer, head);
    }
  }
}

void ForLayersAndHeads(
    const LayerSet& layers, const std::vector<HeadName>& names, const EditPlans& plans,
    const std::function<void(AttentionPlan& plan, const LayerHeads& heads)>& change) {
  const auto count = static_cast<size_t>(plans.config.heads);
  std::vector<LayerHeads> heads(static_cast<size_t>(plans.config.layers), LayerHeads(count, 0));
  ForHeads(names, plans, [&](AttentionPlan&, int64_t layer, int64_t head) {
    heads[static_cast<size_t>(layer)][static_cast<size_t>(head)] = 1;
  });
  ForLayers(layers, plans, [&](AttentionPlan& plan, int64_t layer) {
    LayerHeads& of_layer = heads[static_cast<size_t>(layer)];
    const auto named = std::count(of_layer.begin(), of_layer.end(), 1);
    if (named == plans.config.heads) of_layer.clear();
    if (named > 0) change(plan, of_layer);
  });
}

void RefuseHeadTwice(const EditPlans& plans, int64_t layer, int64_t head) {
  throw UsageError(plans.term, HeadName{layer, head}.Text() + " is changed twice",
                   "Name each head once");
}

}  // namespace midscope
