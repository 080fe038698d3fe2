// SPDX-License-Identifier: MIT
// Internal: finds the query heads of an attention call that read the same rotated keys.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention.h"

namespace midscope::kernels {

// Query heads of one KV group that share a rotary table for keys, and so rotated keys.
struct KeySet {
  int64_t key_value_head = 0;
  RotaryView table;
  RotaryView far;  // table for far keys (FarPositions), if any
  std::vector<int64_t> heads;
};

// Checks the arguments of an attention call (attention.h); no effect in a release build.
void CheckAttention(const AttentionShape& shape, const HeadPositions& positions);
void CheckHeads(const AttentionShape& shape);

std::vector<KeySet> FindKeySets(const AttentionShape& shape, const HeadPositions& positions);

// Logit of hidden keys: a finite replacement for -infinity, so that the difference of two is a
// number (0), and large enough that a logit added to it is negligible.
inline constexpr float kHiddenLogit = -1e30f;

// Queries for hidden keys and key factors of an attention call, or of one head, by key ranges.
class KeyEdits {
 public:
  explicit KeyEdits(const HeadPositions& positions)
      : hidden_(positions.hidden), factors_(positions.factors) {}

  // Returns only the edits that apply to query head `head`.
  KeyEdits OfHead(int64_t head) const {
    KeyEdits of_head = *this;
    of_head.head_ = head;
    return of_head;
  }

  bool empty() const { return hidden_.empty() && factors_.empty(); }
  // Whether one range hides all keys [begin, end) (for edits of a whole call: from all heads), so
  // that the keys can be skipped.
  bool HidesAll(int64_t begin, int64_t end) const;
  // Whether any key of [begin, end) is hidden or has a factor, for one head.
  bool Touches(int64_t begin, int64_t end) const;
  // Writes for one head and `count` keys from `begin` on: bias [count], to add to the logit in
  // units of ln 2 (kHiddenLogit: hidden), and factor [count] of the weight after the softmax.
  void Fill(int64_t begin, int64_t count, float* bias, float* factor) const;

 private:
  static constexpr int64_t kEveryHead = -1;
  template <class Range>
  bool Holds(const Range& range) const {
    return head_ == kEveryHead ? range.heads.empty() : HoldsFor(range, head_);
  }

  int64_t head_ = kEveryHead;
  std::span<const KeyRange> hidden_;
  std::span<const KeyFactor> factors_;
};

}  // namespace midscope::kernels
