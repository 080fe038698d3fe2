// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of a head that the map of heads can show: those that follow from the attention of the
// last query, each with its name, its unit and how it is computed, and every array [layer, head] of
// a record.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <QString>

#include "core/base/record.h"
#include "core/base/spans.h"
#include "gui/base/view_types.h"

namespace midscope {

// One number per head.
struct HeadTable {
  std::vector<double> values;  // [layer, head]; NaN: no value
  int64_t layers = 0;
  int64_t heads = 0;
};

// The tokens that quantities of the attention are about.
struct MarkedTokens {
  TokenSpan gold;   // empty: none
  TokenSpan range;  // the selected ones; empty: none
  bool operator==(const MarkedTokens&) const = default;
};

// The first tokens, which take what a head has no use for (the sink), and the last ones.
inline constexpr int64_t kSinkTokens = 4;
inline constexpr int64_t kLastTokens = 16;

struct AttentionQuantity {
  std::string id;  // in session files: "gold"
  QString name;
  QString unit;  // "" for a share
  QString help;  // its formula in one line
  // row: attention weights [key] of one head, which sum to 1. NaN where it has no value.
  double (*value)(std::span<const float> row, const MarkedTokens& tokens);
};

// In the order of a list.
const std::vector<AttentionQuantity>& AttentionQuantities();
// Null where there is none of that name.
const AttentionQuantity* FindAttentionQuantity(const std::string& id);

// `attention`: a record with last_query_attention [layer, head, key]; null: an empty table.
HeadTable QuantityTable(const AttentionQuantity& quantity, const Record* attention,
                        const MarkedTokens& tokens);

// Whether the array is a number of every head.
bool IsHeadArray(const Record& record, const Array& array);
// An array [layer, head]; empty where it is missing.
HeadTable ArrayTable(const Record* record, const std::string& array);

// b - a, element by element; empty where the shapes differ.
HeadTable Difference(const HeadTable& a, const HeadTable& b);

// Sum of the weights over the tokens that the row has.
template <typename Number>
double SumOver(std::span<const Number> row, const TokenSpan& tokens) {
  double sum = 0;
  const auto end = std::min<int64_t>(tokens.end, static_cast<int64_t>(row.size()));
  for (int64_t key = std::max<int64_t>(tokens.begin, 0); key < end; ++key) {
    sum += static_cast<double>(row[static_cast<size_t>(key)]);
  }
  return sum;
}

// The head that is shown until the user selects one.

// The gold passage of a record `prompt`; empty for none.
TokenSpan GoldTokens(const Record& prompt);

// Returns the head with the largest sum of attention over `tokens`; L0H0 where there are none.
// `attention`: a record with last_query_attention [layer, head, key].
HeadId MostAttentionOn(const Record& attention, const TokenSpan& tokens);

}  // namespace midscope
