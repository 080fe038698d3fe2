// SPDX-License-Identifier: MIT
// The positions of Self-Extend's rule (arXiv 2401.01325), and advice about it. The scheme itself is
// terms/self_extend.cpp. The rule holds for each pair of query and key by their
// position ids in the whole sequence, so that chunks and cached decoding give what one run gives.
// Positions are rounded down throughout: some files of the public code divide window / group
// exactly, which its authors call a mistake. Internal to core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/row_range.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// Positions of queries and keys for each other when they are far apart. Their tables take, for each
// ratio among the heads, two tables' memory more, shared by all layers.
RowPositions FarQueries(const NearFarRule& rule, const PositionIds& ids = {});
RowPositions FarKeys(const NearFarRule& rule, const PositionIds& ids = {});

// Rows whose near keys are the last `near` ones, the row's own included (kernels::FarPositions).
struct NearRows {
  RowRange rows;
  int64_t near = 0;
  bool operator==(const NearRows&) const = default;
};

// `rows` in parts with equally many near keys, in order: keys are near to row i where id_i - id_j <
// window. The ids never fall. One part with near = window where they are the rows' own.
std::vector<NearRows> NearParts(const NearFarRule& rule, const PositionIds& ids, RowRange rows);

// Advice to the user for a run of `tokens` tokens: that it exceeds (trained context - window) *
// group + window, the last length whose distances were all trained, or that the largest distance
// exceeds two thirds of the trained context (beyond 1/2 to 2/3 distances are under-trained,
// according to the public code's README). The words are the same for all lengths; "" where there is
// no advice, as within the trained context.
std::string SelfExtendAdvice(const SelfExtend& scheme, const ModelConfig& config, int64_t tokens);

// The segments of Infini-attention (arXiv 2404.07143) in an attention plan. The scheme itself is
// terms/infini.cpp; what its memory computes is in compute/compressive_memory.h.
// Internal to core.

// The first row of the segment that holds `row`.
int64_t SegmentStart(const CompressiveMemory& memory, int64_t row);
// `rows` cut where segments begin.
std::vector<RowRange> SegmentParts(const CompressiveMemory& memory, RowRange rows);

// The local part's share, 1 - gate. [head]
std::vector<float> LocalShares(const CompressiveMemory& memory);

}  // namespace midscope
