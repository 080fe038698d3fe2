// SPDX-License-Identifier: MIT
// Selects rows of a sequence and the positions at which they are rotated.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

namespace midscope {

// The position id of each row of a sequence: real numbers, in any order. If none are given, a row's
// id is its index. Copies share the array.
class PositionIds {
 public:
  PositionIds() = default;
  // [row]: ids of the first rows, usually of the prompt; later rows count on from the last id + 1.
  // The ids 0, 1, 2, ... are the default and are treated as none given.
  explicit PositionIds(std::vector<double> ids);

  bool given() const { return ids_ != nullptr; }
  double At(int64_t row) const;
  // Returns the smallest integer above all position ids of the first `rows` rows: the length of a
  // sequence whose default ids 0, 1, 2, ... include them.
  int64_t Reach(int64_t rows) const;
  // Whether the ids never decrease from one row to the next.
  bool NeverFall() const;

  bool operator==(const PositionIds& other) const;
  std::partial_ordering operator<=>(const PositionIds& other) const;

  // Returns the first row with different ids in `a` and `b`; INT64_MAX if there is none.
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

// Maps a row to the position whose angles the rotary table holds for it: floor(id of the row /
// group) + offset. With a group of 1, it is id + offset, not rounded.
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
