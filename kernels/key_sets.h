// SPDX-License-Identifier: MIT
// Internal: which query heads of an attention call read the same rotated keys.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention.h"

namespace midscope::kernels {

// Heads of one KV group whose keys are rotated alike, in the order of the heads.
struct KeySet {
  int64_t key_value_head = 0;
  RotaryView table;
  RotaryView far;  // of far keys, where the call has them
  std::vector<int64_t> heads;
};

// Holds the caller to what attention.h says of its arguments; nothing in a release build.
void CheckAttention(const AttentionShape& shape, const HeadPositions& positions);
void CheckHeads(const AttentionShape& shape);

std::vector<KeySet> FindKeySets(const AttentionShape& shape, const HeadPositions& positions);

}  // namespace midscope::kernels
