// SPDX-License-Identifier: MIT
// Edits of one layer's attention: the values to which an intervention's crops, moves, boosts,
// ablations and temperatures compile. They name rows and tokens of one sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/row_range.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "kernels/attention.h"

namespace midscope {

// Selects query heads of a layer: [head], 0 for a head that is unchanged; empty: all heads.
using LayerHeads = std::vector<uint8_t>;

// `rows` do not see the tokens [begin, end); these tokens precede all of the rows.
struct HiddenTokens {
  RowRange rows;
  int64_t begin = 0;
  int64_t end = 0;
  LayerHeads heads = {};
  bool operator==(const HiddenTokens&) const = default;
};

// `rows` see only the first `sink` tokens and the last `recent` ones, including their own (recent >
// 0).
struct StreamingHeads {
  RowRange rows;
  int64_t sink = 0;
  int64_t recent = 1;
  LayerHeads heads = {};
  bool operator==(const StreamingHeads&) const = default;
};

// For `rows` the tokens [begin, end) are `shift` positions further on. If position ids are given,
// `shift` is added to them, or (to_tokens) the tokens take the ids of the tokens `shift` rows
// further on.
struct MovedTokens {
  RowRange rows;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t shift = 0;
  bool to_tokens = false;
  bool operator==(const MovedTokens&) const = default;
};

// The attention weights that `rows` give to the tokens [begin, end) are multiplied
// (kernels/attention.h).
struct BoostedTokens {
  RowRange rows;
  int64_t begin = 0;
  int64_t end = 0;
  double factor = 1;
  bool renormalise = false;
  LayerHeads heads = {};
  bool operator==(const BoostedTokens&) const = default;
};

struct HeadTemperature {
  RowRange rows;
  int64_t head = 0;
  double temperature = 1;
  bool operator==(const HeadTemperature&) const = default;
};

struct AblatedHead {
  RowRange rows;
  int64_t head = 0;
  AblateWith with = AblateWith::kZero;
  bool operator==(const AblatedHead&) const = default;
};

struct AttentionEdits {
  std::vector<HiddenTokens> hidden;
  std::vector<StreamingHeads> streaming;
  std::vector<MovedTokens> moved;
  std::vector<BoostedTokens> boosted;
  std::vector<HeadTemperature> temperatures;
  std::vector<AblatedHead> ablated;
  // Whether the edits leave softmax and rotation unchanged (heads may still be ablated).
  bool LeavesPatterns() const {
    return hidden.empty() && streaming.empty() && moved.empty() && boosted.empty() &&
           temperatures.empty();
  }
  bool operator==(const AttentionEdits&) const = default;
};

// Returns the first row whose output changes; INT64_MAX if none does. The means of heads depend on
// all earlier rows, and only a run that takes them stores their sums: if `after` adds a mean, the
// result is row 0.
int64_t FirstChangedRow(const AttentionEdits& before, const AttentionEdits& after);

// Splits `rows` into ranges of rows with the same edits, in order.
std::vector<RowRange> AlikeRows(const AttentionEdits& edits, RowRange rows);

// The kernel arguments for one range of AlikeRows; they point into the edits.
struct RowEdits {
  std::vector<kernels::KeyRange> hidden;
  std::vector<kernels::KeyFactor> factors;
  std::vector<float> temperature;  // [head], or empty
  std::vector<MovedTokens> moved;
};
RowEdits EditsOfRow(const AttentionEdits& edits, int64_t row, int64_t heads);

// Returns the given ids with the moves applied, for a sequence of `rows` rows.
PositionIds MovedIds(const PositionIds& ids, const std::vector<MovedTokens>& moved, int64_t rows);

// Returns the number of rows that rotary tables need to hold the position of every token of a
// sequence of `rows` rows.
int64_t PositionRows(const AttentionEdits& edits, int64_t rows);

}  // namespace midscope
