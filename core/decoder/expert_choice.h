// SPDX-License-Identifier: MIT
// Which experts a row uses, and with what weights. Internal to core.
#pragma once

#include <span>

#include "core/model/model_config.h"

namespace at {
class Tensor;
}

namespace midscope {

// values [expert]: a row's router logits, which become the weights that the experts' outputs are
// multiplied by, 0 for those that are not chosen. choice_bias [expert] or empty. Among equal
// scores, the first expert's counts as larger. As transformers' routers of mixtral, qwen2_moe,
// olmoe (softmax) and glm4_moe, deepseek_v3 (sigmoid, groups: the reference code of DeepSeek-V3)
// have it.
void ChooseExperts(const ExpertSettings& settings, std::span<const float> choice_bias,
                   std::span<float> values);

// As above with gradients, for all rows: returns the weights [row, expert] of router logits [row,
// expert] in float32. choice_bias [expert], or undefined.
at::Tensor ExpertWeightsOfRows(const ExpertSettings& settings, const at::Tensor& logits,
                               const at::Tensor& choice_bias);

}  // namespace midscope
