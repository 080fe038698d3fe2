// SPDX-License-Identifier: MIT
// Measures of a row of attention weights (one query): its mass on a range of keys, and its spread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/base/row_range.h"
#include "core/decoder/hooks.h"

namespace midscope {

// Returns the sum of the attention weights of keys [begin, end), computed in double.
double AttentionSum(std::span<const float> row, int64_t begin, int64_t end);

// Returns the entropy of the row in nats, between 0 and log(keys); 0 log 0 is 0.
double AttentionEntropy(std::span<const float> row);

// Returns the mean 0-based position of the keys from `first_key` on, weighted by attention; NaN if
// all weights of these keys are 0.
double AttentionCentre(std::span<const float> row, int64_t first_key = 0);

// Returns the key with the largest weight; for ties, the lower key.
int64_t LargestKey(std::span<const float> row);

// Passes rows of the attention pattern to a callback during the run, without storing them. A row
// contains the weights of all keys up to and including its query.
class PatternRows : public Hook {
 public:
  using Visitor =
      std::function<void(int64_t layer, int64_t head, int64_t query, std::span<const float> row)>;
  // `site`: kPattern (after rotation) or kPatternUnrotated (before it). Reads the attention of the
  // last prompt token and of the tokens after it, at most `rows` rows.
  PatternRows(HookSite site, int64_t rows, Visitor visit);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;

 private:
  HookSite site_;
  int64_t rows_;
  Visitor visit_;
};

// Passes rows of the attention pattern to a callback, as PatternRows does, for the given queries of
// the prompt. `layer`: the only layer to read; -1: all.
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
