// SPDX-License-Identifier: MIT
#include "core/compute/moved_tables.h"

#include <algorithm>

namespace midscope {
namespace {

// Copies those of the `rows` rows of `to` that are in [begin, end), from the rows `shift` further
// on of `from`. A prompt in chunks may move tokens of a later chunk.
void CopyRows(const float* from, int64_t pairs, const MovedTokens& moved, int64_t rows, float* to) {
  const int64_t end = std::min(moved.end, rows);
  if (moved.begin >= end) return;
  std::copy_n(from + (moved.begin + moved.shift) * pairs, (end - moved.begin) * pairs,
              to + moved.begin * pairs);
}

}  // namespace

MovedTables::Table MovedTables::Get(const Table& table, const std::vector<MovedTokens>& moved,
                                    int64_t rows) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.from == table && entry.rows >= rows && entry.moved == moved;
  });
  if (found != entries_.end()) return found->to;
  const int64_t pairs = table->pairs();
  auto to = std::make_shared<RotaryCache::Table>(rows, pairs);
  std::copy_n(table->cos(), rows * pairs, to->cos());
  std::copy_n(table->sin(), rows * pairs, to->sin());
  for (const MovedTokens& tokens : moved) {
    CopyRows(table->cos(), pairs, tokens, rows, to->cos());
    CopyRows(table->sin(), pairs, tokens, rows, to->sin());
  }
  entries_.push_back({table, moved, rows, to});
  return to;
}

}  // namespace midscope
