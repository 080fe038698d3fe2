// SPDX-License-Identifier: MIT
// Position ids as values, and the plans made from them: rows after the prompt, additional moves,
// near keys of Self-Extend, the first row at which two sequences of ids differ, rotary tables.

#include "core/plan/run_positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/compute/rotary_cache.h"
#include "core/plan/near_far_plan.h"
#include "core/plan/plan_changes.h"
#include "tests/core/support/filled_table.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;

TEST(PositionIds, GoOnFromTheLast) {
  const PositionIds ids({0, 2.5, 7, 6});
  EXPECT_EQ(ids.At(1), 2.5);
  EXPECT_EQ(ids.At(4), 7);
  EXPECT_EQ(ids.At(6), 9);
  EXPECT_EQ(ids.Reach(1), 1);
  EXPECT_EQ(ids.Reach(2), 3);
  EXPECT_EQ(ids.Reach(4), 8);
  EXPECT_EQ(ids.Reach(5), 8);
  EXPECT_EQ(ids.Reach(6), 9);
  EXPECT_FALSE(ids.NeverFall());
  EXPECT_TRUE(PositionIds({0, 0, 1}).NeverFall());
}

TEST(PositionIds, OfTheRowsCountAsNone) {
  EXPECT_FALSE(PositionIds({0, 1, 2}).given());
  EXPECT_FALSE(PositionIds(std::vector<double>{}).given());
  EXPECT_EQ(PositionIds({0, 1, 2}), PositionIds());
  EXPECT_EQ(PositionIds().At(12), 12);
  EXPECT_EQ(PositionIds().Reach(12), 12);
  EXPECT_TRUE(PositionIds({1, 2, 3}).given());
}

TEST(PositionIds, FirstDifferenceIsThatOfTheRows) {
  const auto first = [](std::vector<double> a, std::vector<double> b) {
    const PositionIds x(std::move(a));
    const PositionIds y(std::move(b));
    EXPECT_EQ(PositionIds::FirstDifference(x, y), PositionIds::FirstDifference(y, x));
    return PositionIds::FirstDifference(x, y);
  };
  EXPECT_EQ(first({0, 1, 5}, {0, 1, 5}), INT64_MAX);
  EXPECT_EQ(first({0, 1, 5}, {0, 1, 5, 6, 7}), INT64_MAX);
  EXPECT_EQ(first({0, 1, 5}, {0, 1, 5, 6, 8}), 4);
  EXPECT_EQ(first({}, {0, 1, 5}), 2);
  EXPECT_EQ(first({}, {0, 2, 2}), 1);
}

TEST(GivenPositions, MovedIdsAreOnTop) {
  const PositionIds ids({0, 1, 10, 11, 30});
  const auto all = [](const PositionIds& of, int64_t rows) {
    std::vector<double> values;
    for (int64_t row = 0; row < rows; ++row) values.push_back(of.At(row));
    return values;
  };
  EXPECT_THAT(all(MovedIds(ids, {{{0, 9}, 2, 4, -5, false}}, 6), 6),
              ElementsAre(0, 1, 5, 6, 30, 31));
  EXPECT_THAT(all(MovedIds(ids, {{{0, 9}, 2, 4, -2, true}}, 6), 6),
              ElementsAre(0, 1, 0, 1, 30, 31));
  EXPECT_THAT(all(MovedIds(ids, {{{0, 9}, 2, 5, 2, true}}, 4), 4), ElementsAre(0, 1, 30, 31));
}

// Against the rule itself, key by key.
TEST(GivenPositions, NearPartsHoldTheRuleForEachPair) {
  EXPECT_EQ(NearParts({2, 5}, {}, {3, 40}), (std::vector<NearRows>{{{3, 40}, 5}}));
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> values = {0};
    while (values.size() < 30)
      values.push_back(values.back() + static_cast<double>(random() % 7) * 0.5);
    const PositionIds ids(values);
    const NearFarRule rule{2, static_cast<int64_t>(1 + random() % 12)};
    const RowRange rows{static_cast<int64_t>(random() % 10), 34};
    int64_t next = rows.first;
    for (const auto& [part, near] : NearParts(rule, ids, rows)) {
      EXPECT_EQ(part.first, next);
      EXPECT_GE(near, 1);
      for (int64_t row = part.first; row < part.last; ++row) {
        for (int64_t key = 0; key <= row; ++key) {
          EXPECT_EQ(row - key < near, ids.At(row) - ids.At(key) < static_cast<double>(rule.window))
              << row << " " << key;
        }
      }
      next = part.last;
    }
    EXPECT_EQ(next, rows.last);
  }
}

TEST(GivenPositions, ChangedRowsBeginWhereIdsDiffer) {
  const std::vector<double> frequency = {1, 0.1};
  const auto plan = [&](std::vector<double> ids) {
    AttentionPlan made;
    made.inverse_frequency = frequency;
    made.position_ids = PositionIds(std::move(ids));
    return std::vector<AttentionPlan>{made};
  };
  EXPECT_THAT(FirstChangedRows(plan({}), plan({0, 1, 5})), ElementsAre(2));
  EXPECT_THAT(FirstChangedRows(plan({0, 1, 5}), plan({0, 1, 5, 6})), ElementsAre(kNoRow));
  auto moved = plan({0, 1, 5, 9});
  moved[0].edits.moved.push_back({{0, 9}, 1, 2, 2, true});
  auto other = plan({0, 1, 5, 8});
  other[0].edits.moved = moved[0].edits.moved;
  EXPECT_THAT(FirstChangedRows(moved, other), ElementsAre(0));
}

// Whole ids have the bits of the same positions of a table without ids.
TEST(GivenPositions, TablesHoldTheAnglesOfTheIds) {
  const std::vector<double> frequency = {1, 0.37, 0.0021};
  RotaryCache cache;
  const auto rows = test::FilledTable(cache, {frequency, 1.1, 1.7, {}}, 3000);
  std::vector<double> values;
  values.reserve(521);
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) values.push_back(static_cast<double>(random() % 2900));
  for (int i = 0; i < 20; ++i) values.push_back(700 + i);
  values.push_back(12.25);
  const RowPositions positions{.ids = PositionIds(values)};
  const auto table = test::FilledTable(cache, {frequency, 1.1, 1.7, positions}, 524);
  for (size_t row = 0; row < 520; ++row) {
    const auto at = static_cast<size_t>(values[row]) * 3;
    for (size_t pair = 0; pair < 3; ++pair) {
      ASSERT_EQ(table->cos()[row * 3 + pair], rows->cos()[at + pair]) << row;
      ASSERT_EQ(table->sin()[row * 3 + pair], rows->sin()[at + pair]) << row;
    }
  }
  for (const auto& [row, position] : {std::pair(520, 12.25), std::pair(522, 14.25)}) {
    for (size_t pair = 0; pair < 3; ++pair) {
      const double angle = position / 1.7 * frequency[pair];
      const size_t at = static_cast<size_t>(row) * 3 + pair;
      EXPECT_NEAR(table->cos()[at], 1.1 * std::cos(angle), 1e-7);
      EXPECT_NEAR(table->sin()[at], 1.1 * std::sin(angle), 1e-7);
    }
  }
  // Groups of ids, rounded down.
  const RowPositions grouped{.group = 3, .offset = 4, .ids = PositionIds({0, 2.9, 3, 8.5})};
  const auto far = test::FilledTable(cache, {frequency, 1.1, 1.7, grouped}, 4);
  for (const auto& [row, position] :
       {std::pair(0, 4), std::pair(1, 4), std::pair(2, 5), std::pair(3, 6)}) {
    EXPECT_EQ(far->cos()[static_cast<size_t>(row) * 3],
              rows->cos()[static_cast<size_t>(position) * 3]);
  }
}

}  // namespace
}  // namespace midscope
