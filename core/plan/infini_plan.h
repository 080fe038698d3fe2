// SPDX-License-Identifier: MIT
// Infini-attention (arXiv 2404.07143) as attention plans; what its memory computes is in
// compressive_memory.h. Internal to core.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/attention_plan.h"

namespace midscope {

// Sets segments and gates in every layer. Throws Error (usage): a segment below 1 token or beyond
// the trained context, gates outside of [0, 1] or of another count than one or one a head, a model
// with sliding windows, together with crops, moves or boosts (the memory has no passages).
void ApplyInfiniAttention(const InfiniAttention& scheme, const Intervention& intervention,
                          const ModelConfig& config, std::vector<AttentionPlan>& plans);

// The first row of the segment that holds `row`.
int64_t SegmentStart(const CompressiveMemory& memory, int64_t row);
// `rows` cut where segments begin.
std::vector<RowRange> SegmentParts(const CompressiveMemory& memory, RowRange rows);

// The local part's share, 1 - gate. [head]
std::vector<float> LocalShares(const CompressiveMemory& memory);

}  // namespace midscope
