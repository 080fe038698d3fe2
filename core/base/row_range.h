// SPDX-License-Identifier: MIT
// Which rows of a sequence are meant, and at which positions they are rotated.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

namespace midscope {

// Position ids of a sequence's rows, as a value.

// The position id of each row of a sequence: real numbers, in any order. Where none are given, a
// row's id is its index. Copies share the numbers.
class PositionIds {
 public:
  PositionIds() = default;
  // [row]: of the first rows, usually of the prompt; those behind go on from the last id + 1. The
  // ids 0, 1, 2, ... are the rows' own and count as none given.
  explicit PositionIds(std::vector<double> ids);

  bool given() const { return ids_ != nullptr; }
  double At(int64_t row) const;
  // The smallest integer above the ids of the first `rows` rows: the number of tokens of a sequence
  // that has such positions as its own.
  int64_t Reach(int64_t rows) const;
  // Whether no row's id is below that of the row before.
  bool NeverFall() const;

  bool operator==(const PositionIds& other) const;
  std::partial_ordering operator<=>(const PositionIds& other) const;

  // The first row with different ids; INT64_MAX where there is none.
  static int64_t FirstDifference(const PositionIds& a, const PositionIds& b);

 private:
  std::shared_ptr<const std::vector<double>> ids_;
};

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
