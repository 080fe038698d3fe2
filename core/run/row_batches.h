// SPDX-License-Identifier: MIT
// Packs sequences into batches of bounded size, in their order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace midscope {

// Rows per batch; with more rows, matrix products are not faster.
inline constexpr int64_t kBatchRows = 2048;

// Returns the end of the batch that begins with item `begin` of `count`: as many items as fit into
// `most_rows` rows, but at least one. rows_of(item) -> int64_t.
template <typename RowsOf>
size_t BatchEnd(size_t begin, size_t count, const RowsOf& rows_of, int64_t most_rows = kBatchRows) {
  size_t end = begin;
  int64_t rows = 0;
  while (end < count && (end == begin || rows + rows_of(end) <= most_rows)) rows += rows_of(end++);
  return end;
}

}  // namespace midscope
