// SPDX-License-Identifier: MIT
#include "kernels/key_sets.h"

#include <algorithm>

namespace midscope::kernels {
namespace {

bool SameTable(const RotaryView& a, const RotaryView& b) {
  return a.cos == b.cos && a.sin == b.sin && a.pairs == b.pairs;
}

}  // namespace

std::vector<KeySet> FindKeySets(const AttentionShape& shape, const HeadPositions& positions) {
  std::vector<KeySet> sets;
  const int64_t group = shape.heads / shape.key_value_heads;
  for (int64_t head = 0; head < shape.heads; ++head) {
    const auto h = static_cast<size_t>(head);
    const RotaryView& table = positions.k[h];
    const RotaryView far = positions.far.window > 0 ? positions.far.k[h] : RotaryView();
    auto set = std::find_if(sets.begin(), sets.end(), [&](const KeySet& other) {
      return other.key_value_head == head / group && SameTable(other.table, table) &&
             SameTable(other.far, far);
    });
    if (set == sets.end()) set = sets.insert(set, {head / group, table, far, {}});
    set->heads.push_back(head);
  }
  return sets;
}

}  // namespace midscope::kernels
