// SPDX-License-Identifier: MIT
// What all terms of an intervention share when they become plans. Internal to core.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/row_range.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// Throws Error (usage) that names `term` where the model lacks one of the layers.
void CheckLayers(const LayerSet& layers, const ModelConfig& config, const std::string& term);

// Throws Error (usage) that names `term` and the first layer with a sliding window, of which it
// says "layer 3 sees the last 128 keys alone" and then `why` that is wrong.
void CheckNoWindow(std::span<const AttentionPlan> plans, const std::string& term,
                   const std::string& why);

// The chosen rows of a sequence whose prompt has so many tokens; INT64_MAX: to the end.
RowRange RowsOf(const RowChoice& choice, int64_t prompt_tokens);

}  // namespace midscope
