// SPDX-License-Identifier: MIT
// Which experts a row uses, and with what weights. Internal to core.
#pragma once

#include <span>

#include "core/model/model_config.h"

namespace midscope {

// values [expert]: a row's router logits, which become the weights that the experts' outputs are
// multiplied by, 0 for those that are not chosen. choice_bias [expert] or empty. Among equal
// scores, the first expert's counts as larger. As transformers' routers of mixtral, qwen2_moe,
// olmoe (softmax) and glm4_moe, deepseek_v3 (sigmoid, groups: the reference code of DeepSeek-V3)
// have it.
void ChooseExperts(const ExpertSettings& settings, std::span<const float> choice_bias,
                   std::span<float> values);

}  // namespace midscope
