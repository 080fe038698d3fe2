// SPDX-License-Identifier: GPL-3.0-or-later
// The per-head values that the head map can show: quantities computed from the attention of the
// last query, each with its name, unit and formula, and every array [layer, head] of a record.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <QString>
#include <QVector>

#include "core/base/record.h"
#include "core/base/spans.h"
#include "gui/base/view_types.h"

namespace midscope {

// A table with one number per head.
struct HeadTable {
  std::vector<double> values;  // [layer, head]; NaN: no value
  int64_t layers = 0;
  int64_t heads = 0;
};

// The tokens whose attention the quantities measure.
struct MarkedTokens {
  TokenSpan gold;   // empty: none
  TokenSpan range;  // the selected tokens; empty: none
  bool operator==(const MarkedTokens&) const = default;
};

// Number of first tokens counted as the attention sink, which receives weight that a head does not
// use elsewhere, and number of last tokens.
inline constexpr int64_t kSinkTokens = 4;
inline constexpr int64_t kLastTokens = 16;

struct AttentionQuantity {
  std::string id;  // in session files: "gold"
  QString name;
  QString unit;  // "" for a dimensionless share
  QString help;  // its formula in one line
  // `row`: attention weights [key] of one head, which sum to 1. Returns NaN if the quantity is
  // undefined for that row.
  double (*value)(std::span<const float> row, const MarkedTokens& tokens);
};

// All quantities, in the order in which lists show them.
const std::vector<AttentionQuantity>& AttentionQuantities();
// Returns nullptr if no quantity has that id.
const AttentionQuantity* FindAttentionQuantity(const std::string& id);

// The quantity of every head, NaN where all weights are 0: in layers without attention.
// `attention`: a record with last_query_attention [layer, head, key]; if null, the table is empty.
HeadTable QuantityTable(const AttentionQuantity& quantity, const Record* attention,
                        const MarkedTokens& tokens);

// Makes the table's values NaN where all weights of `attention` (as above) are 0.
void ClearWithoutAttention(const Record* attention, HeadTable& table);

// For an array with one number (or, with `trailing`, several) per head of attention, or per head of
// the mixers: its axes after `leading`. Empty if its axes do not have this form.
std::vector<std::string> HeadAxes(const Record& record, const Array& array,
                                  const std::vector<std::string>& leading,
                                  const std::vector<std::string>& trailing = {});
// Whether the array has one number per head: [layer, head], or [mixer_layer, mixer_head], of the
// layers without attention.
bool IsHeadArray(const Record& record, const Array& array);
// Whether it has one per head and place of the gold passage: [place, layer, head] or [place,
// mixer_layer, mixer_head].
bool IsHeadArrayByPlace(const Record& record, const Array& array);
// An array [layer, head] of the record as a table; of an array [place, layer, head] the part at
// `place` (a value of that axis), or the mean over places if nullopt. Of mixers' heads, the rows of
// layers that axis mixer_layer leaves out are NaN. Empty if the array or the place is missing.
HeadTable ArrayTable(const Record* record, const std::string& array,
                     std::optional<int64_t> place = std::nullopt);

// The row of a head along the last axis of an array [layer, head, ...] or [mixer_layer, mixer_head,
// ...]; empty if the array has no such head.
QVector<double> RowOfHead(const Record& record, const std::string& array, HeadId head);

// b - a, element by element; empty if the shapes differ.
HeadTable Difference(const HeadTable& a, const HeadTable& b);

// Sum of the weights in `row` over `tokens`, clipped to the length of the row.
template <typename Number>
double SumOver(std::span<const Number> row, const TokenSpan& tokens) {
  double sum = 0;
  const auto end = std::min<int64_t>(tokens.end, static_cast<int64_t>(row.size()));
  for (int64_t key = std::max<int64_t>(tokens.begin, 0); key < end; ++key) {
    sum += static_cast<double>(row[static_cast<size_t>(key)]);
  }
  return sum;
}

// The token span of the gold passage in a record named `prompt`; empty if there is none.
TokenSpan GoldTokens(const Record& prompt);

// Returns the head with the largest sum of attention over `tokens`; L0H0 if `tokens` or `attention`
// is empty. `attention`: a record with last_query_attention [layer, head, key].
HeadId MostAttentionOn(const Record& attention, const TokenSpan& tokens);

}  // namespace midscope
