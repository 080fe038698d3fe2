// SPDX-License-Identifier: MIT
// The positions of Self-Extend's rule (arXiv 2401.01325), and advice about it. The term is defined
// in terms/self_extend.cpp. The rule is applied to each pair of query and key by their position ids
// in the whole sequence, so that chunked runs and cached decoding give the same result as one run.
// Positions are always rounded down: some files of the public code divide window / group exactly,
// which its authors call a mistake. Internal to core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/row_range.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// Return the positions of queries and keys for pairs that are far apart. For each ratio among the
// heads, they need the memory of two more rotary tables, shared by all layers.
RowPositions FarQueries(const NearFarRule& rule, const PositionIds& ids = {});
RowPositions FarKeys(const NearFarRule& rule, const PositionIds& ids = {});

// Rows whose near keys are the last `near` ones, including the row's own (kernels::FarPositions).
struct NearRows {
  RowRange rows;
  int64_t near = 0;
  bool operator==(const NearRows&) const = default;
};

// Splits `rows` into parts with the same number of near keys, in order: key j is near to row i if
// id_i - id_j < window. The ids must not decrease. If no ids are given, the result is one part with
// near = window.
std::vector<NearRows> NearParts(const NearFarRule& rule, const PositionIds& ids, RowRange rows);

// Returns advice to the user about a run of `tokens` tokens: that it exceeds (trained context -
// window) * group + window, the last length whose distances were all trained, or that the largest
// distance exceeds two thirds of the trained context (beyond 1/2 to 2/3 distances are
// under-trained, according to the public code's README). The text does not depend on the length.
// Returns "" if there is no advice, such as within the trained context.
std::string SelfExtendAdvice(const SelfExtend& scheme, const ModelConfig& config, int64_t tokens);

// The segments of Infini-attention (arXiv 2404.07143) in an attention plan. The term is defined in
// terms/infini.cpp, and the memory's computation in compute/compressive_memory.h. Internal to core.

// Returns the first row of the segment that contains `row`.
int64_t SegmentStart(const CompressiveMemory& memory, int64_t row);
// Splits `rows` at the beginnings of segments.
std::vector<RowRange> SegmentParts(const CompressiveMemory& memory, RowRange rows);

// Returns the local attention's share, 1 - gate: [head].
std::vector<float> LocalShares(const CompressiveMemory& memory);

}  // namespace midscope
