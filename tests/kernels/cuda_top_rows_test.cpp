// SPDX-License-Identifier: MIT
// The bodies of the CUDA kernels for the largest values of rows, run on the CPU block by block.
//
// Contract: results equal those of sorting exactly, equal values ordered by column; they do not
// depend on the order of threads between two barriers; non-finite values come first; only the
// output is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/top_rows.h"
#include "tests/kernels/support/launch_on_host.h"

namespace midscope::kernels::cuda {
namespace {

constexpr float kNone = -7777;
constexpr int32_t kNoColumn = -7777;

struct Top {
  std::vector<int32_t> columns;  // [rows * top], and one element that must not be written
  std::vector<float> values;
  bool operator==(const Top&) const = default;
};

Top TopOf(const std::vector<float>& values, int64_t rows, int top, bool backwards) {
  const int64_t columns = static_cast<int64_t>(values.size()) / rows;
  EXPECT_TRUE(HasTopRows(columns, top));
  std::vector<uint64_t> kept(static_cast<size_t>(rows * TopParts(columns) * top) + 1, 1);
  const auto count = static_cast<size_t>(rows * top);
  Top found{std::vector<int32_t>(count + 1, kNoColumn), std::vector<float>(count + 1, kNone)};
  const TopRowsArguments parts{values.data(), kept.data(), rows, columns, top};
  test::InOrder(backwards, [&] { TopRows(parts); });
  const MergeTopArguments merge{parts, found.columns.data(), found.values.data()};
  test::InOrder(backwards, [&] { MergeTop(merge); });
  EXPECT_EQ(kept.back(), 1u);
  return found;
}

Top Sorted(const std::vector<float>& values, int64_t rows, int top) {
  const size_t columns = values.size() / static_cast<size_t>(rows);
  Top sorted;
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    std::vector<int32_t> order(columns);
    std::iota(order.begin(), order.end(), 0);
    const float* of_row = values.data() + row * columns;
    std::stable_sort(order.begin(), order.end(),
                     [of_row](int32_t a, int32_t b) { return of_row[a] > of_row[b]; });
    for (int i = 0; i < top; ++i) {
      sorted.columns.push_back(order[static_cast<size_t>(i)]);
      sorted.values.push_back(of_row[sorted.columns.back()]);
    }
  }
  sorted.columns.push_back(kNoColumn);
  sorted.values.push_back(kNone);
  return sorted;
}

TEST(CudaTopRows, AreWhatSortingGives) {
  constexpr int64_t kMostColumnsOfRows = 4097;
  std::mt19937 random(1);
  for (const int64_t columns : {1, 5, 255, 256, 257, 4095, 4096, 4097, 9000, 49152}) {
    for (const int64_t rows : {1, 3}) {
      if (rows > 1 && columns > kMostColumnsOfRows) continue;
      // Few distinct values, so that many are equal; or all distinct.
      for (const int most : {3, 1 << 24}) {
        std::vector<float> values(static_cast<size_t>(rows * columns));
        std::uniform_int_distribution<int> any(-most, most);
        for (float& value : values) value = static_cast<float>(any(random)) / 64;
        for (const int top : {1, 2, 5, kMostTop}) {
          if (top > columns) continue;
          const Top expected = Sorted(values, rows, top);
          EXPECT_EQ(TopOf(values, rows, top, false), expected)
              << columns << " " << rows << " " << top;
          EXPECT_EQ(TopOf(values, rows, top, true), expected)
              << columns << " " << rows << " " << top;
        }
      }
    }
  }
}

TEST(CudaTopRows, ZerosOfEitherSignAreEqual) {
  EXPECT_EQ(TopOf({-1.0f, -0.0f, 0.0f, -0.0f}, 1, 3, false).columns,
            (std::vector<int32_t>{1, 2, 3, kNoColumn}));
}

TEST(CudaTopRows, WhatIsNotFiniteComesFirst) {
  for (const float strange :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
        std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    std::vector<float> values(5000, 1.0f);
    values[17] = std::numeric_limits<float>::max();
    values[4500] = strange;
    const Top top = TopOf(values, 1, 2, false);
    EXPECT_EQ(top.columns[0], 4500);
    EXPECT_FALSE(std::isfinite(top.values[0]));
    EXPECT_EQ(top.columns[1], 17);
  }
}

TEST(CudaTopRows, TheLowestValuesAreValues) {
  const std::vector<float> values(300, std::numeric_limits<float>::lowest());
  EXPECT_EQ(TopOf(values, 1, 2, false).columns, (std::vector<int32_t>{0, 1, kNoColumn}));
}

TEST(CudaTopRows, AreNotHadOfTooMany) {
  EXPECT_FALSE(HasTopRows(100, 0));
  EXPECT_FALSE(HasTopRows(100, 101));
  EXPECT_FALSE(HasTopRows(100, kMostTop + 1));
  EXPECT_TRUE(HasTopRows(256'000, kMostTop));
  EXPECT_FALSE(HasTopRows(int64_t{1} << 20, kMostTop));
  EXPECT_TRUE(HasTopRows(int64_t{1} << 20, 1));
}

}  // namespace
}  // namespace midscope::kernels::cuda
