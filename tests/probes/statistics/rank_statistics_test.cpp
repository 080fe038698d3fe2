// SPDX-License-Identifier: MIT
// Rank correlations compared with cases calculated by hand (compare_probes.py compares them with
// scipy), and the statistics of one attention row.
#include "probes/measure/statistics/rank_statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "probes/base/attention_row.h"

namespace midscope {
namespace {

using Values = std::vector<double>;

TEST(AverageRanks, TiesShareTheMeanOfTheirRanks) {
  EXPECT_EQ(AverageRanks(Values{30, 10, 20}), (Values{3, 1, 2}));
  EXPECT_EQ(AverageRanks(Values{5, 1, 5, 5}), (Values{3, 1, 3, 3}));
  EXPECT_TRUE(AverageRanks(Values{}).empty());
}

TEST(SpearmanCorrelation, SeesOrderAloneAndBothDirections) {
  EXPECT_NEAR(SpearmanCorrelation(Values{1, 2, 3, 4}, Values{1, 10, 100, 1e6}), 1, 1e-12);
  EXPECT_NEAR(SpearmanCorrelation(Values{1, 2, 3}, Values{-1, -2, -3}), -1, 1e-12);
  // Ranks 1 2 3 4 5 and 2 1 4 3 5: 1 - 6 * 4 / (5 * 24).
  EXPECT_NEAR(SpearmanCorrelation(Values{1, 2, 3, 4, 5}, Values{2, 1, 4, 3, 5}), 0.8, 1e-12);
}

TEST(KendallTau, CountsPairsAndAllowsForTies) {
  // 8 of 10 pairs agree and 2 do not.
  EXPECT_NEAR(KendallTau(Values{1, 2, 3, 4, 5}, Values{2, 1, 4, 3, 5}), 0.6, 1e-12);
  // Pairs: (1,2) is tied in b, the other two agree: 2 / sqrt(3 * 2).
  EXPECT_NEAR(KendallTau(Values{1, 2, 3}, Values{1, 1, 2}), 2 / std::sqrt(6.0), 1e-12);
}

TEST(RankStatistics, AreUndefinedWhereOneSideSaysNothing) {
  EXPECT_TRUE(std::isnan(SpearmanCorrelation(Values{1}, Values{2})));
  EXPECT_TRUE(std::isnan(SpearmanCorrelation(Values{1, 2}, Values{3, 3})));
  EXPECT_TRUE(std::isnan(SpearmanCorrelation(Values{1, 2}, Values{3, NAN})));
  EXPECT_TRUE(std::isnan(KendallTau(Values{1, 2}, Values{3, 3})));
  EXPECT_TRUE(std::isnan(MeanOfNumbers(Values{NAN})));
  EXPECT_EQ(MeanOfNumbers(Values{1, NAN, 3}), 2);
}

TEST(StableRanks, GivesTiesToTheLowerHead) {
  EXPECT_EQ(StableRanks(std::vector<int64_t>{1, 4, 2, 4}), (std::vector<int64_t>{3, 0, 2, 1}));
}

TEST(AttentionRow, EntropyIsLogOfTheKeysWhereEvenAndZeroWhereOneHasAll) {
  EXPECT_NEAR(AttentionEntropy(std::vector<float>(8, 0.125f)), std::log(8), 1e-6);
  EXPECT_EQ(AttentionEntropy(std::vector<float>{0, 1, 0}), 0);
}

TEST(AttentionRow, CentreIsTheMeanPositionOfTheMass) {
  const std::vector<float> row = {0.5f, 0, 0.25f, 0.25f};
  EXPECT_NEAR(AttentionCentre(row), 1.25, 1e-12);
  EXPECT_NEAR(AttentionCentre(row, 1), 2.5, 1e-12);  // without the sink
  EXPECT_TRUE(std::isnan(AttentionCentre(row, 4)));
  EXPECT_NEAR(AttentionSum(row, 2, 4), 0.5, 1e-12);
  EXPECT_EQ(AttentionSum(row, 2, 2), 0);
  EXPECT_EQ(LargestKey(std::vector<float>{0.2f, 0.4f, 0.4f}), 1);
}

}  // namespace
}  // namespace midscope
