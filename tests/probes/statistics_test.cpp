// SPDX-License-Identifier: MIT
#include "probes/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "data/random.h"

namespace midscope {
namespace {

TEST(Statistics, MeanOfNothingIsNoNumber) {
  EXPECT_TRUE(std::isnan(Mean({})));
  EXPECT_DOUBLE_EQ(Mean(std::vector<double>{1, 2, 6}), 3);
}

TEST(Statistics, BootstrapIsTheSameForTheSameSeedAndNotForAnother) {
  const std::vector<double> values = {1, 2, 3, 5, 8, 13, 21, 34};
  const Interval first = BootstrapMeanInterval(values, 7);
  const Interval again = BootstrapMeanInterval(values, 7);
  const Interval other = BootstrapMeanInterval(values, 8);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_NE(first.low, other.low);
}

TEST(Statistics, BootstrapIntervalIsAboutTheNormalOne) {
  // 400 values spread evenly over [0, 1]: standard error of the mean 0.2887 / 20.
  std::vector<double> values;
  values.reserve(400);
  for (int i = 0; i < 400; ++i) values.push_back((i + 0.5) / 400);
  const Interval interval = BootstrapMeanInterval(values, 1);
  const double half = 1.96 * 0.288675 / 20;
  EXPECT_NEAR(interval.low, 0.5 - half, 0.004);
  EXPECT_NEAR(interval.high, 0.5 + half, 0.004);
}

TEST(Statistics, BootstrapCoversTheTrueMeanAboutNineteenTimesInTwenty) {
  SplitMix64 random(3);
  int covered = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values;
    values.reserve(40);
    for (int i = 0; i < 40; ++i) values.push_back(static_cast<double>(random.Below(1000)) + 0.5);
    const Interval interval = BootstrapMeanInterval(values, 11, 500);
    covered += interval.low <= 500 && 500 <= interval.high ? 1 : 0;
  }
  // 95 % less what 40 values cost a percentile interval; four standard deviations wide.
  EXPECT_GT(covered, kTrials * 0.89);
  EXPECT_LT(covered, kTrials * 0.985);
}

TEST(Statistics, BootstrapOfConstantValuesHasNoWidth) {
  const Interval interval = BootstrapMeanInterval(std::vector<double>{4, 4, 4}, 1);
  EXPECT_DOUBLE_EQ(interval.low, 4);
  EXPECT_DOUBLE_EQ(interval.high, 4);
}

TEST(Statistics, BootstrapSaysNothingOfOneValueOrAMissingOne) {
  EXPECT_TRUE(std::isnan(BootstrapMeanInterval(std::vector<double>{4}, 1).low));
  EXPECT_TRUE(std::isnan(BootstrapMeanInterval(std::vector<double>{4, std::nan(""), 2}, 1).high));
}

}  // namespace
}  // namespace midscope
