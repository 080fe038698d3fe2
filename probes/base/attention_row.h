// SPDX-License-Identifier: MIT
// What one row of attention weights says: where its mass lies, and how spread it is.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/decoder/hooks.h"

namespace midscope {

// Weights of keys [begin, end) summed, in double.
double AttentionSum(std::span<const float> row, int64_t begin, int64_t end);

// Entropy of the row in nats; 0 log 0 is 0. Between 0 and log(keys).
double AttentionEntropy(std::span<const float> row);

// Centre of mass of the keys from `first_key` on: the mean of their positions (0-based tokens),
// weighted by attention. NaN where they get none.
double AttentionCentre(std::span<const float> row, int64_t first_key = 0);

// The key with the largest weight; ties: the lower key.
int64_t LargestKey(std::span<const float> row);

// Reads rows of the attention pattern, after or before rotation, as they come about: each is handed
// on and nothing is kept. A row holds the keys before and at its query.
class PatternRows : public Hook {
 public:
  using Visitor =
      std::function<void(int64_t layer, int64_t head, int64_t query, std::span<const float> row)>;
  // `site`: kPattern or kPatternUnrotated. Rows from the last prompt row on, `rows` of them at
  // most.
  PatternRows(HookSite site, int64_t rows, Visitor visit);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;

 private:
  HookSite site_;
  int64_t rows_;
  Visitor visit_;
};

}  // namespace midscope
