// SPDX-License-Identifier: MIT
// Internal: hidden keys and factors of an attention call, or of one head in it, block by block.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/attention.h"

namespace midscope::kernels {

// A finite stand-in for -infinity: differences of two stay numbers, and logits vanish in it.
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
  // Of one head: whether any key of [begin, end) is hidden or has a factor.
  bool Touches(int64_t begin, int64_t end) const;
  // Of one head: for each key from `begin` on what is added to its logit in units of ln 2
  // (kHiddenLogit: hidden), and what its weight is multiplied by once the softmax's sum is taken.
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
