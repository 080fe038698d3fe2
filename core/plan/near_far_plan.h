// SPDX-License-Identifier: MIT
// Self-Extend (arXiv 2401.01325) as attention plans, positions and advice. The rule holds for each
// pair of query and key by their places in the whole sequence, so that chunks and cached decoding
// give what one run gives. Positions are rounded down throughout: some files of the public code
// divide window / group exactly, which its authors call a mistake. Internal to core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/row_range.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// Sets the rule in every layer that rotates. Throws Error (usage): group or window below 1, a model
// with sliding windows (keys beyond the window would stay unseen, and nothing be extended),
// together with a move (near and far are told apart by places).
void ApplySelfExtend(const SelfExtend& scheme, const Intervention& intervention,
                     std::vector<AttentionPlan>& plans);

// Where queries and keys stand for each other when they are far apart. Their tables take, for each
// ratio among the heads, two tables' memory more, shared by all layers.
RowPositions FarQueries(const NearFarRule& rule);
RowPositions FarKeys(const NearFarRule& rule);

// What a user should know of a run of `tokens` tokens: that it passes (trained context - window) *
// group + window, the last length whose distances were all trained, or that the largest distance
// passes two thirds of the trained context (beyond 1/2 to 2/3 distances are under-trained, says the
// public code's README). The same words for all lengths; "" where there is nothing to say, as
// within the trained context.
std::string SelfExtendAdvice(const SelfExtend& scheme, const ModelConfig& config, int64_t tokens);

}  // namespace midscope
