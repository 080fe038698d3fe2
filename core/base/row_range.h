// SPDX-License-Identifier: MIT
// Which rows of a sequence are meant, and at which positions they are rotated.
#pragma once

#include <compare>
#include <cstdint>

namespace midscope {

// Rows [first, last) of the sequence, by absolute position.
struct RowRange {
  int64_t first = 0;
  int64_t last = 0;
  bool empty() const { return last <= first; }
  bool operator==(const RowRange&) const = default;
};

// The position whose angles a table's row holds: floor(row / group) + offset.
struct RowPositions {
  int64_t group = 1;
  int64_t offset = 0;
  auto operator<=>(const RowPositions&) const = default;  // NOLINT(modernize-use-nullptr): no 0
};

}  // namespace midscope
