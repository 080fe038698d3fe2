// SPDX-License-Identifier: MIT
#include "core/plan/attention_edits.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/plan/term_plans.h"

namespace midscope {
namespace {

bool Holds(const RowRange& rows, int64_t row) { return rows.first <= row && row < rows.last; }

// Returns the smallest first row among the entries that occur more often in one list than in the
// other. `first_row` returns the first row that an entry changes.
template <class Entry, class FirstRow>
int64_t FirstDifference(const std::vector<Entry>& a, const std::vector<Entry>& b,
                        const FirstRow& first_row) {
  int64_t first = INT64_MAX;
  for (const auto* list : {&a, &b}) {
    for (const Entry& entry : *list) {
      if (std::count(a.begin(), a.end(), entry) != std::count(b.begin(), b.end(), entry))
        first = std::min(first, first_row(entry));
    }
  }
  return first;
}

template <class Entry>
int64_t FirstRowOfRows(const Entry& entry) {
  return entry.rows.first;
}

// Returns the first row that does not see every key.
int64_t FirstStreamingRow(const StreamingHeads& entry) {
  return std::max(entry.rows.first, entry.sink + entry.recent);
}

// Returns the first row that sees the tokens; rows before the tokens do not.
template <class Entry>
int64_t FirstRowThatSees(const Entry& entry) {
  return std::max(entry.rows.first, entry.begin);
}

bool AddsMean(const AttentionEdits& before, const AttentionEdits& after) {
  return std::any_of(after.ablated.begin(), after.ablated.end(), [&](const AblatedHead& head) {
    const auto same_mean = [&](const AblatedHead& other) {
      return other.head == head.head && other.with == AblateWith::kMean;
    };
    return head.with == AblateWith::kMean &&
           std::none_of(before.ablated.begin(), before.ablated.end(), same_mean);
  });
}

}  // namespace

int64_t FirstChangedRow(const AttentionEdits& before, const AttentionEdits& after) {
  if (before == after) return INT64_MAX;
  if (AddsMean(before, after)) return 0;
  return std::min(
      {FirstDifference(before.hidden, after.hidden, FirstRowOfRows<HiddenTokens>),
       FirstDifference(before.streaming, after.streaming, FirstStreamingRow),
       FirstDifference(before.moved, after.moved, FirstRowThatSees<MovedTokens>),
       FirstDifference(before.boosted, after.boosted, FirstRowThatSees<BoostedTokens>),
       FirstDifference(before.temperatures, after.temperatures, FirstRowOfRows<HeadTemperature>),
       FirstDifference(before.ablated, after.ablated, FirstRowOfRows<AblatedHead>)});
}

std::vector<RowRange> AlikeRows(const AttentionEdits& edits, RowRange rows) {
  if (rows.empty()) return {};
  std::set<int64_t> breaks = {rows.first, rows.last};
  const auto add = [&](const auto& entries) {
    for (const auto& entry : entries) {
      for (const int64_t row : {entry.rows.first, entry.rows.last}) {
        if (Holds(rows, row)) breaks.insert(row);
      }
    }
  };
  add(edits.hidden);
  add(edits.moved);
  add(edits.boosted);
  add(edits.temperatures);
  // Rows that the entry affects see different keys from each other.
  for (const StreamingHeads& entry : edits.streaming) {
    const int64_t last = std::min(entry.rows.last, rows.last);
    for (int64_t row = std::max(FirstStreamingRow(entry), rows.first); row < last; ++row)
      breaks.insert(row);
    if (Holds(rows, last)) breaks.insert(last);
  }
  std::vector<RowRange> parts;
  for (auto at = breaks.begin(); std::next(at) != breaks.end(); ++at)
    parts.push_back({*at, *std::next(at)});
  return parts;
}

RowEdits EditsOfRow(const AttentionEdits& edits, int64_t row, int64_t heads) {
  RowEdits result;
  for (const HiddenTokens& hidden : edits.hidden) {
    if (Holds(hidden.rows, row)) result.hidden.push_back({hidden.begin, hidden.end, hidden.heads});
  }
  for (const StreamingHeads& entry : edits.streaming) {
    if (!Holds(entry.rows, row) || row < FirstStreamingRow(entry)) continue;
    result.hidden.push_back({entry.sink, row - entry.recent + 1, entry.heads});
  }
  for (const BoostedTokens& boosted : edits.boosted) {
    if (!Holds(boosted.rows, row)) continue;
    result.factors.push_back({boosted.begin, boosted.end, static_cast<float>(boosted.factor),
                              boosted.renormalise, boosted.heads});
  }
  for (const MovedTokens& moved : edits.moved) {
    if (Holds(moved.rows, row)) result.moved.push_back(moved);
  }
  for (const HeadTemperature& head : edits.temperatures) {
    if (!Holds(head.rows, row)) continue;
    if (result.temperature.empty()) result.temperature.assign(static_cast<size_t>(heads), 1.0f);
    result.temperature[static_cast<size_t>(head.head)] = static_cast<float>(head.temperature);
  }
  return result;
}

PositionIds MovedIds(const PositionIds& ids, const std::vector<MovedTokens>& moved, int64_t rows) {
  std::vector<double> result;
  result.reserve(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) result.push_back(ids.At(row));
  for (const MovedTokens& tokens : moved) {
    for (int64_t row = tokens.begin; row < std::min(tokens.end, rows); ++row) {
      result[static_cast<size_t>(row)] = tokens.to_tokens
                                             ? ids.At(row + tokens.shift)
                                             : ids.At(row) + static_cast<double>(tokens.shift);
    }
  }
  return PositionIds(std::move(result));
}

int64_t PositionRows(const AttentionEdits& edits, int64_t rows) {
  for (const MovedTokens& moved : edits.moved) rows = std::max(rows, moved.end + moved.shift);
  return rows;
}

}  // namespace midscope
