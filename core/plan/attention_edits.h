// SPDX-License-Identifier: MIT
// Edits of one layer's attention, as an intervention's crops, moves, boosts, ablations and
// temperatures compile to: values that name rows and tokens of one sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/row_range.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "kernels/attention.h"

namespace midscope {

// Query heads of a layer: [head], 0 for those that are left alone; empty: all.
using LayerHeads = std::vector<uint8_t>;

// `rows` do not see the tokens [begin, end), all of which come before them.
struct HiddenTokens {
  RowRange rows;
  int64_t begin = 0;
  int64_t end = 0;
  LayerHeads heads = {};
  bool operator==(const HiddenTokens&) const = default;
};

// `rows` see the first `sink` tokens and the last `recent` ones, their own included (> 0).
struct StreamingHeads {
  RowRange rows;
  int64_t sink = 0;
  int64_t recent = 1;
  LayerHeads heads = {};
  bool operator==(const StreamingHeads&) const = default;
};

// For `rows` the tokens [begin, end) are `shift` positions further on. Where position ids are given
// that is added to their ids, or (to_tokens) they take the ids of the tokens `shift` rows further
// on.
struct MovedTokens {
  RowRange rows;
  int64_t begin = 0;
  int64_t end = 0;
  int64_t shift = 0;
  bool to_tokens = false;
  bool operator==(const MovedTokens&) const = default;
};

// The weights that `rows` give to the tokens [begin, end) are multiplied (kernels/attention.h).
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
  // Whether softmax and rotation are as without edits (heads may still be ablated).
  bool LeavesPatterns() const {
    return hidden.empty() && streaming.empty() && moved.empty() && boosted.empty() &&
           temperatures.empty();
  }
  bool operator==(const AttentionEdits&) const = default;
};

// The first row that comes out differently; INT64_MAX where none does. Means of heads need all rows
// before, which only a run that took them leaves behind: where `after` adds one, that is row 0.
int64_t FirstChangedRow(const AttentionEdits& before, const AttentionEdits& after);

// `rows` in parts whose rows are all edited alike, in order.
std::vector<RowRange> AlikeRows(const AttentionEdits& edits, RowRange rows);

// The kernel arguments of a part of AlikeRows; they point into the edits.
struct RowEdits {
  std::vector<kernels::KeyRange> hidden;
  std::vector<kernels::KeyFactor> factors;
  std::vector<float> temperature;  // [head], or empty
  std::vector<MovedTokens> moved;
};
RowEdits EditsOfRow(const AttentionEdits& edits, int64_t row, int64_t heads);

// The given ids with the moves on top of them, for a sequence of `rows` rows.
PositionIds MovedIds(const PositionIds& ids, const std::vector<MovedTokens>& moved, int64_t rows);

// Rows that rotary tables need so that every token of a sequence of `rows` finds its position.
int64_t PositionRows(const AttentionEdits& edits, int64_t rows);

}  // namespace midscope
