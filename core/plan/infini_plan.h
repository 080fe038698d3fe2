// SPDX-License-Identifier: MIT
// The segments of Infini-attention (arXiv 2404.07143) in an attention plan. The scheme itself is
// terms/infini.cpp; what its memory computes is in compute/compressive_memory.h.
// Internal to core.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/attention_plan.h"

namespace midscope {

// The first row of the segment that holds `row`.
int64_t SegmentStart(const CompressiveMemory& memory, int64_t row);
// `rows` cut where segments begin.
std::vector<RowRange> SegmentParts(const CompressiveMemory& memory, RowRange rows);

// The local part's share, 1 - gate. [head]
std::vector<float> LocalShares(const CompressiveMemory& memory);

}  // namespace midscope
