// SPDX-License-Identifier: MIT
// Attention plans for a pass with gradients.
#pragma once

#include <cstdint>
#include <vector>

#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// Returns one plan per layer for a sequence of `tokens` tokens at these position ids [token]
// (empty: the setting's, else 0, 1, 2, ...), which need not be integers, increase or be different,
// under the setting's position scheme. Throws Error (usage) if the number of ids is not the number
// of tokens or the setting has ids too, if the setting does anything but give all heads and rows
// of a layer the same positions and frequencies (such as an edit, or ratios that differ between
// heads), and in the cases of CompilePlans. Positions beyond the trained context are permitted.
std::vector<AttentionPlan> TuningPlans(const Intervention& setting,
                                       const std::vector<double>& position_ids,
                                       const ModelConfig& config, int64_t tokens);

}  // namespace midscope
