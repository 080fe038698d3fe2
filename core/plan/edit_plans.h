// SPDX-License-Identifier: MIT
// What edits do to attention plans: ApplyEdits, and what the files of intervention/edits/ share.
// Internal to core.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/plan/attention_plan.h"
#include "core/plan/plan_checks.h"

namespace midscope {

// The plans that an edit changes, and what they are made for.
struct EditPlans {
  const Intervention& intervention;
  std::string term;  // of the edit: "crop"
  const ModelConfig& config;
  int64_t prompt_tokens;
  std::vector<AttentionPlan>& plans;  // [layer]
};

// Changes the plans to what the intervention's edits make of them: those that come before position
// schemes, or those that come after. Throws Error (usage) where one cannot apply.
enum class EditTime { kBeforeSchemes, kAfterSchemes };
void ApplyEdits(EditTime time, const Intervention& intervention, const ModelConfig& config,
                int64_t prompt_tokens, std::vector<AttentionPlan>& plans);

// Calls change(plan, layer) for each of the layers. Throws Error (usage) where the model lacks one.
void ForLayers(const LayerSet& layers, const EditPlans& plans,
               const std::function<void(AttentionPlan& plan, int64_t layer)>& change);

// Throws Error (usage): tokens that the prompt lacks, or a passage that has only a name yet.
void CheckSpan(const TokenSpan& span, const LayerSet& layers, const EditPlans& plans);

// The rows of the prompt that are meant. Throws Error (usage) as CheckSpan does.
RowRange RowsOf(const ChosenRows& rows, const LayerSet& layers, const EditPlans& plans);

// Calls change(plan of the layer, layer, query head) for each query head that the names stand for.
// Throws Error (usage) where the model lacks one.
void ForHeads(const std::vector<HeadName>& names, const EditPlans& plans,
              const std::function<void(AttentionPlan& plan, int64_t layer, int64_t head)>& change);

// Calls change(plan, heads) for each of the layers in which the names mean any head, with those.
// Throws Error (usage) where the model lacks a layer or head.
void ForLayersAndHeads(
    const LayerSet& layers, const std::vector<HeadName>& names, const EditPlans& plans,
    const std::function<void(AttentionPlan& plan, const LayerHeads& heads)>& change);

// Throws Error (usage): a head is changed twice by this edit.
[[noreturn]] void RefuseHeadTwice(const EditPlans& plans, int64_t layer, int64_t head);

// Adds an entry of a head, unless it has one already. Throws Error (usage).
template <class Entry>
void AddHeadEntry(const EditPlans& plans, int64_t layer, const Entry& entry,
                  std::vector<Entry>& entries) {
  for (const Entry& other : entries) {
    if (other.head == entry.head) RefuseHeadTwice(plans, layer, entry.head);
  }
  entries.push_back(entry);
}

}  // namespace midscope
