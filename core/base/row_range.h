// SPDX-License-Identifier: MIT
// Which rows of a sequence are meant, and at which positions they are rotated.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

#include "core/base/position_ids.h"

namespace midscope {

// Rows [first, last) of the sequence, by absolute position.
struct RowRange {
  int64_t first = 0;
  int64_t last = 0;
  bool empty() const { return last <= first; }
  bool operator==(const RowRange&) const = default;
};

inline constexpr RowRange kAllRows = {0, INT64_MAX};

// The position whose angles a table's row holds: floor(id of the row / group) + offset; with a
// group of 1 the id itself + offset, not rounded.
struct RowPositions {
  int64_t group = 1;
  int64_t offset = 0;
  PositionIds ids = {};
  double At(int64_t row) const {
    const double id = ids.At(row);
    return (group == 1 ? id : std::floor(id / static_cast<double>(group))) +
           static_cast<double>(offset);
  }
  auto operator<=>(const RowPositions&) const = default;  // NOLINT(modernize-use-nullptr): no 0
};

}  // namespace midscope
