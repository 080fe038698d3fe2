// SPDX-License-Identifier: MIT
#include "kernels/key_sets.h"

#include <algorithm>
#include <cmath>

#include "kernels/check.h"

namespace midscope::kernels {

namespace {

bool SameTable(const RotaryView& a, const RotaryView& b) {
  return a.cos == b.cos && a.sin == b.sin && a.pairs == b.pairs;
}

void CheckTables([[maybe_unused]] const AttentionShape& shape, std::span<const RotaryView> tables) {
  MIDSCOPE_KERNEL_CHECK_EQ(tables.size(), shape.heads);
  for ([[maybe_unused]] const RotaryView& table : tables) {
    MIDSCOPE_KERNEL_CHECK_LE(2 * table.pairs, shape.head_dim);
  }
}

}  // namespace

void CheckHeads(const AttentionShape& shape) {
  if (shape.query_rows <= 0) return;
  MIDSCOPE_KERNEL_CHECK_GE(shape.key_value_heads, 1);
  MIDSCOPE_KERNEL_CHECK_EQ(shape.heads % shape.key_value_heads, 0);
  MIDSCOPE_KERNEL_CHECK_GE(shape.head_dim, 1);
  MIDSCOPE_KERNEL_CHECK_GE(shape.first_query, 0);
  MIDSCOPE_KERNEL_CHECK_GE(shape.key_rows, shape.first_query + shape.query_rows);
}

void CheckAttention(const AttentionShape& shape, const HeadPositions& positions) {
  if (shape.query_rows <= 0) return;
  CheckHeads(shape);
  CheckTables(shape, positions.q);
  CheckTables(shape, positions.k);
  MIDSCOPE_KERNEL_CHECK_EQ(positions.scale.size(), shape.heads);
  if (positions.far.window > 0) {
    CheckTables(shape, positions.far.q);
    CheckTables(shape, positions.far.k);
  }
  if (!positions.alibi_slopes.empty()) {
    MIDSCOPE_KERNEL_CHECK_EQ(positions.alibi_slopes.size(), shape.heads);
  }
  if (!positions.temperature.empty()) {
    MIDSCOPE_KERNEL_CHECK_EQ(positions.temperature.size(), shape.heads);
  }
  if (!positions.sinks.empty()) {
    MIDSCOPE_KERNEL_CHECK_EQ(positions.sinks.size(), shape.heads);
  }
  if (!positions.query_weight.empty()) {
    MIDSCOPE_KERNEL_CHECK_EQ(positions.query_weight.size(), shape.head_dim);
  }
  for ([[maybe_unused]] const KeyRange& keys : positions.hidden) {
    MIDSCOPE_KERNEL_CHECK_LE(keys.end, shape.first_query);
    if (!keys.heads.empty()) MIDSCOPE_KERNEL_CHECK_EQ(keys.heads.size(), shape.heads);
  }
}

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

namespace {

// Calls step(i - begin) for each index i in [begin, begin + count) that is in `range`.
template <class Range, class Step>
void ForShared(const Range& range, int64_t begin, int64_t count, Step&& step) {
  const int64_t first = std::max(range.begin, begin);
  const int64_t last = std::min(range.end, begin + count);
  for (int64_t key = first; key < last; ++key) step(key - begin);
}

}  // namespace

bool KeyEdits::HidesAll(int64_t begin, int64_t end) const {
  return std::any_of(hidden_.begin(), hidden_.end(), [&](const KeyRange& range) {
    return Holds(range) && range.begin <= begin && end <= range.end;
  });
}

bool KeyEdits::Touches(int64_t begin, int64_t end) const {
  const auto shares = [&](const auto& range) {
    return Holds(range) && range.begin < end && begin < range.end;
  };
  return std::any_of(hidden_.begin(), hidden_.end(), shares) ||
         std::any_of(factors_.begin(), factors_.end(), shares);
}

void KeyEdits::Fill(int64_t begin, int64_t count, float* bias, float* factor) const {
  std::fill_n(bias, count, 0.0f);
  std::fill_n(factor, count, 1.0f);
  for (const KeyFactor& range : factors_) {
    if (!Holds(range)) continue;
    if (range.renormalised) {
      const float change = std::log2(range.factor);
      ForShared(range, begin, count, [&](int64_t i) { bias[i] += change; });
    } else {
      ForShared(range, begin, count, [&](int64_t i) { factor[i] *= range.factor; });
    }
  }
  for (const KeyRange& range : hidden_) {
    if (!Holds(range)) continue;
    ForShared(range, begin, count, [&](int64_t i) { bias[i] = kHiddenLogit; });
  }
}

}  // namespace midscope::kernels
