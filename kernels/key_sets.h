// SPDX-License-Identifier: MIT
// Internal: finds the query heads of an attention call that read the same rotated keys.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention.h"

namespace midscope::kernels {

// Heads of one KV group whose keys are rotated equally, in the order of the heads.
struct KeySet {
  int64_t key_value_head = 0;
  RotaryView table;
  RotaryView far;  // for far keys, if the call has them
  std::vector<int64_t> heads;
};

// Checks that the arguments meet the requirements of attention.h; no effect in a release build.
void CheckAttention(const AttentionShape& shape, const HeadPositions& positions);
void CheckHeads(const AttentionShape& shape);

std::vector<KeySet> FindKeySets(const AttentionShape& shape, const HeadPositions& positions);

// A finite replacement for -infinity: the difference of two such values is a number, and a logit
// added to one is negligible.
inline constexpr float kHiddenLogit = -1e30f;

// Hidden keys and factors of an attention call, or of one head in it, block by block.
class KeyEdits {
 public:
  explicit KeyEdits(const HeadPositions& positions)
      : hidden_(positions.hidden), factors_(positions.factors) {}

  // Returns the edits that apply to the head.
  KeyEdits OfHead(int64_t head) const {
    KeyEdits of_head = *this;
    of_head.head_ = head;
    return of_head;
  }

  bool empty() const { return hidden_.empty() && factors_.empty(); }
  // Whether one range hides all keys [begin, end); for the edits of a call, from all heads. Such
  // blocks can be skipped.
  bool HidesAll(int64_t begin, int64_t end) const;
  // Whether any key of [begin, end) is hidden or has a factor, for one head.
  bool Touches(int64_t begin, int64_t end) const;
  // Writes, for one head and each key from `begin` on, the term to add to its logit in units of ln
  // 2 (kHiddenLogit: hidden), and the factor of its weight after the softmax.
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
