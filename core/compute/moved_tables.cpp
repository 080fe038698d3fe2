// SPDX-License-Identifier: MIT
#include "core/compute/moved_tables.h"

#include <algorithm>

namespace midscope {
namespace {

// Copies those of the `rows` rows of `to` that are in [begin, end), from the rows `shift` further
// on of `from`. A prompt in chunks may move tokens of a later chunk.
void CopyRows(const std::vector<float>& from, int64_t pairs, const MovedTokens& moved, int64_t rows,
              std::vector<float>& to) {
  const int64_t end = std::min(moved.end, rows);
  if (moved.begin >= end) return;
  const auto row = [pairs](const std::vector<float>& table, int64_t index) {
    return table.begin() + static_cast<std::ptrdiff_t>(index * pairs);
  };
  std::copy(row(from, moved.begin + moved.shift), row(from, end + moved.shift),
            to.begin() + static_cast<std::ptrdiff_t>(moved.begin * pairs));
}

}  // namespace

MovedTables::Table MovedTables::Get(const Table& table, const std::vector<MovedTokens>& moved,
                                    int64_t rows) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.from == table && entry.rows >= rows && entry.moved == moved;
  });
  if (found != entries_.end()) return found->to;
  auto to = std::make_shared<RotaryCache::Table>();
  to->rows = rows;
  to->pairs = table->pairs;
  const auto count = static_cast<std::ptrdiff_t>(rows * table->pairs);
  to->cos.assign(table->cos.begin(), table->cos.begin() + count);
  to->sin.assign(table->sin.begin(), table->sin.begin() + count);
  for (const MovedTokens& tokens : moved) {
    CopyRows(table->cos, table->pairs, tokens, rows, to->cos);
    CopyRows(table->sin, table->pairs, tokens, rows, to->sin);
  }
  entries_.push_back({table, moved, rows, to});
  return to;
}

}  // namespace midscope
