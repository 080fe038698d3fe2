// SPDX-License-Identifier: MIT
// Rotary tables are made once for equal angles, filled only for kernels that read them, and dropped
// when the last runs did not use them.
#include "core/compute/rotary_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <span>
#include <vector>

#include "tests/core/support/filled_table.h"

namespace midscope {
namespace {

TEST(RotaryCache, FillsTablesForWhoReadsThem) {
  RotaryCache cache;
  const RotaryAngles angles{{1.0, 0.1, 0.01}, 1.0, 1.5, {}};
  const auto reserved = cache.Reserve(angles, 10);
  EXPECT_EQ(reserved->rows(), 256);
  EXPECT_EQ(reserved->pairs(), 3);
  const auto filled = test::FilledTable(cache, angles, 200);
  EXPECT_EQ(filled, reserved) << "the same table, now with its numbers";
  constexpr size_t kPairs = 3;
  constexpr size_t kRows = 256;
  const std::span cos(reserved->cos(), kRows * kPairs);
  const std::span sin(reserved->sin(), kRows * kPairs);
  EXPECT_NEAR(cos[3 * kPairs + 1], std::cos(0.2), 1e-7);
  EXPECT_NEAR(sin[255 * kPairs], std::sin(170.0), 1e-7);
  EXPECT_NE(cache.Reserve(angles, 257), reserved);
}

TEST(RotaryCache, DropsWhatTheLastRunsDidNotUse) {
  constexpr int64_t kRows = 4096;
  const std::vector<double> frequencies(32, 0.5);  // a table takes 1 MiB
  RotaryCache cache;
  const auto reserve = [&](double ratio, int64_t rows) {
    return cache.Reserve({frequencies, /*magnitude=*/1, ratio, {}}, rows);
  };
  const auto trained = reserve(1, kRows);
  for (int run = 0; run < 300; ++run) {
    cache.BeginRun();
    const double ratio = 1 + 0.01 * (run + 1);
    EXPECT_EQ(reserve(1, kRows), trained) << "every run uses it";
    const auto dragged = reserve(ratio, kRows);
    EXPECT_EQ(reserve(ratio, kRows / 2), dragged);
  }
  EXPECT_LE(cache.bytes(), int64_t{50} << 20);
  EXPECT_GE(cache.bytes(), int64_t{17} << 20);
}

TEST(RotaryCache, ACancelledTableIsFilledLater) {
  RotaryCache cache;
  std::atomic<bool> cancel = true;
  const auto table = cache.Reserve({{1.0}, 1.0, 1.0, {}}, 10);
  ASSERT_NE(table, nullptr);
  EXPECT_FALSE(table->Fill(kernels::SerialExecutor(), &cancel));
  cancel = false;
  EXPECT_TRUE(table->Fill(kernels::SerialExecutor(), &cancel));
  EXPECT_NEAR(table->sin()[7], std::sin(7.0), 1e-7);
}

}  // namespace
}  // namespace midscope
