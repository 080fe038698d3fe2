// SPDX-License-Identifier: MIT
// What position schemes do to attention plans: ApplyScheme, and what the files of
// intervention/schemes/ share. Internal to core.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/plan/attention_plan.h"
#include "core/plan/rope_frequencies.h"

namespace midscope {

// The plans that a scheme changes, and what they are made for.
struct SchemePlans {
  const Intervention& intervention;
  std::string term;  // of the scheme: "ms-poe"
  const ModelConfig& config;
  // Of the whole sequence: its tokens, or the largest position id + 1 where ids are given.
  int64_t positions;
  std::vector<AttentionPlan>& plans;  // [layer], as the model itself has them
};

// Changes the plans of a model that is left alone to what the intervention's scheme makes of them,
// for a sequence with so many positions. Throws Error (usage) where it cannot apply.
void ApplyScheme(const Intervention& intervention, const ModelConfig& config, int64_t positions,
                 std::vector<AttentionPlan>& plans);

// Divides the positions of all heads in all layers that rotate.
void DividePositions(const SchemePlans& plans, double ratio);

// Replaces frequencies and magnitude of the layers that rotate by the model's global frequencies.
// Local ones (gemma3's sliding layers) stay, as in models that were extended in this way. Throws
// Error (usage) where no layer is left.
void ReplaceFrequencies(const SchemePlans& plans, const RopeFrequencies& frequencies);

// The frequencies that the model would have with this base and scaling.
RopeFrequencies FrequenciesWith(const SchemePlans& plans, double base, const RopeScaling& scaling);

// Tokens of the model's training before its own scaling.
int64_t TrainedContext(const ModelConfig& config);

// Calls change(plan) for those of the layers that rotate. Throws Error (usage): a layer that the
// model lacks, or none of them rotates.
void ForRotatedLayers(const LayerSet& layers, const SchemePlans& plans,
                      const std::function<void(AttentionPlan& plan)>& change);

// Throws Error (usage): the model rotates nothing in these layers.
[[noreturn]] void RefuseUnrotated(const SchemePlans& plans, const LayerSet& layers);

}  // namespace midscope
