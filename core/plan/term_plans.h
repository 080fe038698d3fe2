// SPDX-License-Identifier: MIT
// The effect of terms on attention plans: ApplyTerms, and functions that the files of core/terms
// share. Internal to core.
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

// The plans that a term changes, and what they are made for.
struct TermPlans {
  const Intervention& intervention;
  std::string term;  // its name: "crop"
  const ModelConfig& config;
  int64_t prompt_tokens;
  // Positions of the whole sequence: its tokens, or the largest position id + 1 where ids are
  // given.
  int64_t positions;
  std::vector<AttentionPlan>& plans;  // [layer]
};

// Applies the intervention's terms of this stage to the plans, which the stages before have
// changed. Throws Error (usage) where one cannot apply.
void ApplyTerms(TermStage stage, const Intervention& intervention, const ModelConfig& config,
                int64_t prompt_tokens, int64_t positions, std::vector<AttentionPlan>& plans);

// Divides the positions of all heads in all layers that rotate.
void DividePositions(const TermPlans& plans, double ratio);

// Replaces frequencies and magnitude of the layers that rotate by the model's global frequencies.
// Local ones (gemma3's sliding layers) stay, as in models that were extended in this way. Throws
// Error (usage) where no layer is left.
void ReplaceFrequencies(const TermPlans& plans, const RopeFrequencies& frequencies);

// The frequencies that the model would have with this base and scaling.
RopeFrequencies FrequenciesWith(const TermPlans& plans, double base, const RopeScaling& scaling);

// Tokens of the model's training before its own scaling.
int64_t TrainedContext(const ModelConfig& config);

// Calls change(plan) for those of the layers that rotate. Throws Error (usage): a layer that the
// model lacks, or none of them rotates.
void ForRotatedLayers(const LayerSet& layers, const TermPlans& plans,
                      const std::function<void(AttentionPlan& plan)>& change);

// Throws Error (usage): the model rotates nothing in these layers.
[[noreturn]] void RefuseUnrotated(const TermPlans& plans, const LayerSet& layers);

// Calls change(plan, layer) for each of the layers. Throws Error (usage) where the model lacks one.
void ForLayers(const LayerSet& layers, const TermPlans& plans,
               const std::function<void(AttentionPlan& plan, int64_t layer)>& change);

// Throws Error (usage): tokens that the prompt lacks, or a passage that has only a name yet.
void CheckSpan(const TokenSpan& span, const LayerSet& layers, const TermPlans& plans);

// The rows of the prompt that are meant. Throws Error (usage) as CheckSpan does.
RowRange RowsOf(const ChosenRows& rows, const LayerSet& layers, const TermPlans& plans);

// Calls change(plan of the layer, layer, query head) for each query head that the names select.
// Throws Error (usage) where the model lacks one.
void ForHeads(const std::vector<HeadName>& names, const TermPlans& plans,
              const std::function<void(AttentionPlan& plan, int64_t layer, int64_t head)>& change);

// Calls change(plan, heads) for each of the layers in which the names mean any head, with those.
// Throws Error (usage) where the model lacks a layer or head.
void ForLayersAndHeads(
    const LayerSet& layers, const std::vector<HeadName>& names, const TermPlans& plans,
    const std::function<void(AttentionPlan& plan, const LayerHeads& heads)>& change);

// Throws Error (usage): a head is changed twice by this edit.
[[noreturn]] void RefuseHeadTwice(const TermPlans& plans, int64_t layer, int64_t head);

// Adds an entry of a head, unless it has one already. Throws Error (usage).
template <class Entry>
void AddHeadEntry(const TermPlans& plans, int64_t layer, const Entry& entry,
                  std::vector<Entry>& entries) {
  for (const Entry& other : entries) {
    if (other.head == entry.head) RefuseHeadTwice(plans, layer, entry.head);
  }
  entries.push_back(entry);
}

}  // namespace midscope
