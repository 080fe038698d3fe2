// SPDX-License-Identifier: MIT
// Position schemes as attention plans. Internal to core.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/attention_plan.h"

namespace midscope {

// Changes the plans of a model that is left alone to what the intervention's scheme makes of them,
// for a sequence of `tokens` tokens. Throws Error (usage) where it cannot apply.
//   base, ntk, dynamic-ntk, yarn   replace frequencies and magnitude of layers with the model's
//                                  global frequencies; local ones (gemma3's sliding layers) stay,
//                                  as in models that were extended in this way
//   pi, dynamic-linear             divide the positions of all heads in all layers that rotate
//   ratios, ms-poe                 divide them by head; keys are rotated once a query head
//   nope                           takes the frequencies away
//   self-extend, infini            near_far_plan.h, compressive_memory.h
void ApplyScheme(const Intervention& intervention, const ModelConfig& config, int64_t tokens,
                 std::vector<AttentionPlan>& plans);

// Tokens of the training that YaRN starts from: the scheme's, or the model's own before its own
// scaling.
int64_t OriginalContext(const Yarn& scheme, const ModelConfig& config);

}  // namespace midscope
