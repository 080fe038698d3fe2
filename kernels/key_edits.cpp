// SPDX-License-Identifier: MIT
#include "kernels/key_edits.h"

#include <algorithm>
#include <cmath>

namespace midscope::kernels {
namespace {

// Calls step(i) for the indices i of [begin, begin + count) that lie in `range`, less `begin`.
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
