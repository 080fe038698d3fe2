// SPDX-License-Identifier: MIT
// How many tokens a run may have.
#pragma once

#include <cstdint>
#include <string>

#include "core/intervention.h"
#include "core/model_config.h"

namespace midscope {

// The model's trained context, or more where the position scheme is made for more: as many times as
// it stretches positions (pi, ntk, yarn; ms-poe and ratios by their smallest ratio; base by the
// factor that the NTK-aware rule would give for it), and INT64_MAX where it follows the sequence
// (dynamic-ntk, dynamic-linear) or keeps distances within what was trained (self-extend, infini).
int64_t LongestRun(const Intervention& intervention, const ModelConfig& config);

// What errors say of it: "the model's context holds 8192"; where the scheme makes it more, "...
// holds 16384 under this position scheme".
std::string ContextHolds(const Intervention& intervention, const ModelConfig& config);

}  // namespace midscope
