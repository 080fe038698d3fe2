// SPDX-License-Identifier: MIT
// Chooses the experts of a row and computes their weights. Internal to core.
#pragma once

#include <span>

#include "core/model/model_config.h"

namespace midscope {

// Replaces a row's router logits `values` [expert] by the weights of the experts' outputs; 0: not
// chosen. choice_bias: [expert] or empty. Among equal scores, the first expert is chosen. Same
// results as the routers in transformers of mixtral, qwen2_moe, olmoe (softmax) and glm4_moe,
// deepseek_v3 (sigmoid; groups as in DeepSeek-V3's reference code).
void ChooseExperts(const ExpertSettings& settings, std::span<const float> choice_bias,
                   std::span<float> values);

}  // namespace midscope
