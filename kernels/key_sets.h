// SPDX-License-Identifier: MIT
// Internal: which query heads of an attention call read the same rotated keys.
#pragma once

#include <cstdint>
#include <span>
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

// Checks that the arguments meet the requirements of attention.h; no effect in a release build.
void CheckAttention(const AttentionShape& shape, const HeadPositions& positions);
void CheckHeads(const AttentionShape& shape);

std::vector<KeySet> FindKeySets(const AttentionShape& shape, const HeadPositions& positions);

// Internal: hidden keys and factors of an attention call, or of one head in it, block by block.

// A finite replacement for -infinity: differences of two stay numbers, and logits vanish in it.
inline constexpr float kHiddenLogit = -1e30f;

class KeyEdits {
 public:
  explicit KeyEdits(const HeadPositions& positions)
      : hidden_(positions.hidden), factors_(positions.factors) {}

  // Those that hold for the head.
  KeyEdits OfHead(int64_t head) const {
    KeyEdits of_head = *this;
    of_head.head_ = head;
    return of_head;
  }

  bool empty() const { return hidden_.empty() && factors_.empty(); }
  // Whether one range hides all keys [begin, end), of a call: from all heads. Such blocks need not
  // be looked at.
  bool HidesAll(int64_t begin, int64_t end) const;
  // Whether any key of [begin, end) is hidden or has a factor, for one head.
  bool Touches(int64_t begin, int64_t end) const;
  // For one head and each key from `begin` on: the term added to its logit in units of ln 2
  // (kHiddenLogit: hidden), and the factor of its weight after the softmax's sum.
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
