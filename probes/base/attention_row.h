// SPDX-License-Identifier: MIT
// Measures of one row of attention weights: its mass on a range of keys, and its spread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/base/row_range.h"
#include "core/decoder/hooks.h"

namespace midscope {

// Sum of the weights of keys [begin, end), in double.
double AttentionSum(std::span<const float> row, int64_t begin, int64_t end);

// Entropy of the row in nats; 0 log 0 is 0. Between 0 and log(keys).
double AttentionEntropy(std::span<const float> row);

// Mean of the positions (0-based tokens) of the keys from `first_key` on, weighted by attention.
// NaN if their weights are 0.
double AttentionCentre(std::span<const float> row, int64_t first_key = 0);

// The key with the largest weight; ties: the lower key.
int64_t LargestKey(std::span<const float> row);

// Reads rows of the attention pattern, after or before rotation, during the run: each row is passed
// to a callback and not stored. A row has the keys up to and including its query.
class PatternRows : public Hook {
 public:
  using Visitor =
      std::function<void(int64_t layer, int64_t head, int64_t query, std::span<const float> row)>;
  // `site`: kPattern or kPatternUnrotated. At most `rows` rows, from the last prompt row on.
  PatternRows(HookSite site, int64_t rows, Visitor visit);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;

 private:
  HookSite site_;
  int64_t rows_;
  Visitor visit_;
};

// As PatternRows, for the rows [first, last) of the prompt, in one layer or (-1) in all.
class PatternRange : public Hook {
 public:
  PatternRange(RowRange rows, int64_t layer, PatternRows::Visitor visit);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;

 private:
  RowRange rows_;
  int64_t layer_;
  PatternRows::Visitor visit_;
};

}  // namespace midscope
