// SPDX-License-Identifier: MIT
// Applies terms to attention plans: ApplyTerms, and functions that the files of core/terms share.
// Internal to core.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/intervention/term_type.h"
#include "core/plan/attention_plan.h"
#include "core/plan/plan_changes.h"
#include "core/plan/rope_frequencies.h"

namespace midscope {

// The plans that a term changes, and the model and sequence for which they are compiled.
struct TermPlans {
  const Intervention& intervention;
  std::string term;  // the term's name: "crop"
  const ModelConfig& config;
  int64_t prompt_tokens;
  // Positions of the whole sequence: its number of tokens, or the largest position id + 1 if ids
  // are given.
  int64_t positions;
  std::vector<AttentionPlan>& plans;  // [layer]
};

// Applies the intervention's terms of this stage to the plans, to which earlier stages have already
// been applied. Throws Error (usage) if a term cannot be applied.
void ApplyTerms(TermStage stage, const Intervention& intervention, const ModelConfig& config,
                int64_t prompt_tokens, int64_t positions, std::vector<AttentionPlan>& plans);

// Divides the positions of all heads in all rotated layers by `ratio`.
void DividePositions(const TermPlans& plans, double ratio);

// Replaces frequencies and magnitude in the layers that use the model's global frequencies. Local
// layers (gemma3's sliding layers) are unchanged, as in models that were extended in this way.
// Throws Error (usage) if there is no such layer.
void ReplaceFrequencies(const TermPlans& plans, const RopeFrequencies& frequencies);

// Returns the frequencies that the model would have with this base and scaling.
RopeFrequencies FrequenciesWith(const TermPlans& plans, double base, const RopeScaling& scaling);

// Returns the number of tokens in the model's training context before its own scaling.
int64_t TrainedContext(const ModelConfig& config);

// Calls change(plan) for the rotated layers among `layers`. Throws Error (usage) if the model lacks
// a layer, or if none of them is rotated.
void ForRotatedLayers(const LayerSet& layers, const TermPlans& plans,
                      const std::function<void(AttentionPlan& plan)>& change);

// Throws Error (usage) which states that the model rotates nothing in these layers.
[[noreturn]] void RefuseUnrotated(const TermPlans& plans, const LayerSet& layers);

// Calls change(plan, layer) for each of the layers. Throws Error (usage) if the model lacks one.
void ForLayers(const LayerSet& layers, const TermPlans& plans,
               const std::function<void(AttentionPlan& plan, int64_t layer)>& change);

// Like ForLayers, without layers that have no attention. Throws Error (usage) if none of the layers
// has any.
void ForAttentionLayers(const LayerSet& layers, const TermPlans& plans,
                        const std::function<void(AttentionPlan& plan, int64_t layer)>& change);

// Throws Error (usage) if the prompt lacks these tokens, or if the passage is not resolved yet (it
// still has a name).
void CheckSpan(const TokenSpan& span, const LayerSet& layers, const TermPlans& plans);

// Returns the prompt rows that `rows` selects. Throws Error (usage) in the same cases as CheckSpan.
RowRange RowsOf(const ChosenRows& rows, const LayerSet& layers, const TermPlans& plans);

// Calls change(plan of the layer, layer, query head) for each query head that the names select.
// Throws Error (usage) if the model lacks one, or its layer has no attention.
void ForHeads(const std::vector<HeadName>& names, const TermPlans& plans,
              const std::function<void(AttentionPlan& plan, int64_t layer, int64_t head)>& change);

// Calls change(plan, heads) for each of the layers in which the names select any head, with these
// heads. Throws Error (usage) if the model lacks a layer or head, or has no attention in any of the
// layers.
void ForLayersAndHeads(
    const LayerSet& layers, const std::vector<HeadName>& names, const TermPlans& plans,
    const std::function<void(AttentionPlan& plan, const LayerHeads& heads)>& change);

// Throws Error (usage) which states that this edit changes a head twice.
[[noreturn]] void RefuseHeadTwice(const TermPlans& plans, int64_t layer, int64_t head);

// Adds an entry for a head. Throws Error (usage) if the head already has one.
template <class Entry>
void AddHeadEntry(const TermPlans& plans, int64_t layer, const Entry& entry,
                  std::vector<Entry>& entries) {
  for (const Entry& other : entries) {
    if (other.head == entry.head) RefuseHeadTwice(plans, layer, entry.head);
  }
  entries.push_back(entry);
}

}  // namespace midscope
