// SPDX-License-Identifier: MIT
// How many tokens a run may have.
#pragma once

#include <cstdint>

#include "core/intervention.h"
#include "core/model_config.h"

namespace midscope {

// The model's trained context, or INT64_MAX where the position scheme is made for more: Self-Extend
// keeps distances within what was trained (a run beyond that logs a warning), Infini-attention
// within a segment.
int64_t LongestRun(const Intervention& intervention, const ModelConfig& config);

}  // namespace midscope
