// SPDX-License-Identifier: MIT
// Measures of a row of attention weights (one query): its mass on a range of keys, and its spread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/base/row_range.h"
#include "core/decoder/hooks.h"

namespace midscope {

// Sum of the weights of keys [begin, end), computed in double.
double AttentionSum(std::span<const float> row, int64_t begin, int64_t end);

// Entropy of the row in nats; 0 log 0 is 0. Between 0 and log(keys).
double AttentionEntropy(std::span<const float> row);

// Attention-weighted mean position (0-based) of the keys from `first_key` on. NaN if all their
// weights are 0.
double AttentionCentre(std::span<const float> row, int64_t first_key = 0);

// Returns the key with the largest weight; for ties, the lower key.
int64_t LargestKey(std::span<const float> row);

// Passes rows of the attention pattern to a callback during the run, without storing them. A row
// has the keys up to and including its query.
class PatternRows : public Hook {
 public:
  using Visitor =
      std::function<void(int64_t layer, int64_t head, int64_t query, std::span<const float> row)>;
  // `site`: kPattern (after rotation) or kPatternUnrotated (before it). Reads the last prompt row
  // and those after it, at most `rows`.
  PatternRows(HookSite site, int64_t rows, Visitor visit);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;

 private:
  HookSite site_;
  int64_t rows_;
  Visitor visit_;
};

// As PatternRows, but for given rows of the prompt. `layer`: the only layer to read; -1: all.
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
