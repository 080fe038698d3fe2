// SPDX-License-Identifier: MIT
#include "probes/measure/statistics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/random.h"
#include "tests/paths.h"

namespace midscope {
namespace {

// The bootstrap interval of the mean of single values.
double First(std::span<const double> means) { return means.front(); }
Interval BootstrapMean(const std::vector<double>& values, uint64_t seed,
                       int resamples = kBootstrapResamples) {
  return BootstrapRowsInterval(values, 1, seed, First, resamples);
}

TEST(Statistics, MeanOfNothingIsNoNumber) {
  EXPECT_TRUE(std::isnan(Mean({})));
  EXPECT_DOUBLE_EQ(Mean(std::vector<double>{1, 2, 6}), 3);
}

TEST(Statistics, BootstrapIsTheSameForTheSameSeedAndNotForAnother) {
  const std::vector<double> values = {1, 2, 3, 5, 8, 13, 21, 34};
  const Interval first = BootstrapMean(values, 7);
  const Interval again = BootstrapMean(values, 7);
  const Interval other = BootstrapMean(values, 8);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
  EXPECT_NE(first.low, other.low);
}

TEST(Statistics, BootstrapIntervalIsAboutTheNormalOne) {
  // 400 values evenly spaced over [0, 1]; the standard error of their mean is 0.2887 / 20.
  std::vector<double> values;
  values.reserve(400);
  for (int i = 0; i < 400; ++i) values.push_back((i + 0.5) / 400);
  const Interval interval = BootstrapMean(values, 1);
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
    const Interval interval = BootstrapMean(values, 11, 500);
    covered += interval.low <= 500 && 500 <= interval.high ? 1 : 0;
  }
  // 95 % minus the loss of a percentile interval with 40 values, minus four standard deviations.
  EXPECT_GT(covered, kTrials * 0.89);
  EXPECT_LT(covered, kTrials * 0.985);
}

TEST(Statistics, BootstrapOfConstantValuesHasNoWidth) {
  const Interval interval = BootstrapMean(std::vector<double>{4, 4, 4}, 1);
  EXPECT_DOUBLE_EQ(interval.low, 4);
  EXPECT_DOUBLE_EQ(interval.high, 4);
}

TEST(Statistics, BootstrapSaysNothingOfOneValueOrAMissingOne) {
  EXPECT_TRUE(std::isnan(BootstrapMean(std::vector<double>{4}, 1).low));
  EXPECT_TRUE(std::isnan(BootstrapMean(std::vector<double>{4, std::nan(""), 2}, 1).high));
}

// scipy's results for fixed data (make_statistics_golden.py).
class StatisticsGolden : public ::testing::Test {
 protected:
  void SetUp() override {
    golden_ = nlohmann::json::parse(
        std::ifstream(MIDSCOPE_TESTS "/probes/golden/statistics_golden.json"));
  }
  std::vector<double> Values(const char* name) const { return golden_.at(name); }
  double Number(const char* name) const { return golden_.at(name); }
  std::vector<double> Rows() const {
    std::vector<double> rows;
    for (const auto& row : golden_.at("rows")) {
      for (const double value : row) rows.push_back(value);
    }
    return rows;
  }

  nlohmann::json golden_;
};

double Gap(std::span<const double> means) {
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  return *high - *low;
}

TEST_F(StatisticsGolden, SignFlipOfFewValuesIsExact) {
  EXPECT_NEAR(SignFlipPValue(Values("differences"), 1), Number("differences_p"), 1e-12);
}

TEST_F(StatisticsGolden, SignFlipOfManyIsWithinItsSamplingError) {
  // The standard error of a p near 0.3 from 10,000 permutations is 0.005.
  EXPECT_NEAR(SignFlipPValue(Values("many"), 1), Number("many_p"), 0.02);
}

TEST_F(StatisticsGolden, ColumnEffectIsWithinItsSamplingError) {
  EXPECT_NEAR(TestColumnEffect(Rows(), 4, 1).p, Number("rows_p"), 0.01);
}

TEST_F(StatisticsGolden, BootstrapIntervalsAreAboutScipys) {
  const Interval mean = BootstrapMean(Values("many"), 1, 20000);
  EXPECT_NEAR(mean.low, Values("many_interval")[0], 0.005);
  EXPECT_NEAR(mean.high, Values("many_interval")[1], 0.005);
  const Interval gap = BootstrapRowsInterval(Rows(), 4, 1, Gap, 20000);
  EXPECT_NEAR(gap.low, Values("gap_interval")[0], 0.02);
  EXPECT_NEAR(gap.high, Values("gap_interval")[1], 0.02);
}

TEST_F(StatisticsGolden, SampleSizeIsThatOfTheNormalApproximation) {
  EXPECT_EQ(SamplesForDifference(0.5, 0.04), std::ceil(Number("power_samples")));
  EXPECT_NEAR(DetectableDifference(0.5, SamplesForDifference(0.5, 0.04)), 0.04, 1e-4);
  EXPECT_EQ(SamplesForDifference(0.5, 0), -1);
}

TEST(Statistics, PermutationTestsFindWhatIsThereAndNothingElse) {
  SplitMix64 random(4);
  int found = 0;
  int false_found = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> rows;
    std::vector<double> effect;
    for (int i = 0; i < 20 * 3; ++i) {
      rows.push_back(static_cast<double>(random.Below(1000)));
      effect.push_back(rows.back() + (i % 3 == 0 ? 400.0 : 0.0));
    }
    false_found += TestColumnEffect(rows, 3, 9, 400).p < 0.05 ? 1 : 0;
    found += TestColumnEffect(effect, 3, 9, 400).p < 0.05 ? 1 : 0;
  }
  // 5 % plus four standard deviations.
  EXPECT_LT(false_found, kTrials * 0.115);
  EXPECT_GT(found, kTrials * 0.9);
}

// For independent standard normal numbers in 5 columns of n rows, the largest mean exceeds the
// smallest by 2.326 / sqrt(n) on average (the expected range of five), whatever the true effect of
// the places.
TEST(Statistics, TheGapByChanceIsWhatNoiseAloneMakes) {
  SplitMix64 random(6);
  const auto normal = [&] {  // a sum of 12 uniform numbers
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.Next() >> 11) * 0x1.0p-53;
    return sum;
  };
  double chance = 0;
  double gap = 0;
  double chance_with_effect = 0;
  constexpr int kTrials = 40;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> rows;
    std::vector<double> effect;
    for (int i = 0; i < 40 * 5; ++i) {
      rows.push_back(normal());
      effect.push_back(rows.back() + (i % 5 == 0 ? 1.0 : 0.0));
    }
    chance += TestColumnEffect(rows, 5, 1, 500).chance_gap / kTrials;
    gap += Gap(ColumnMeans(rows, 5)) / kTrials;
    chance_with_effect += TestColumnEffect(effect, 5, 1, 500).chance_gap / kTrials;
  }
  EXPECT_NEAR(chance, 2.326 / std::sqrt(40.0), 0.02);
  EXPECT_NEAR(gap, chance, 0.06);
  EXPECT_LT(chance_with_effect, 0.5);  // much less than the effect, 1
}

TEST(Statistics, CellsOfOneColumnAreTestedAsColumns) {
  const std::vector<double> rows = {1, 5, 2, 2, 7, 3, 1, 6, 4, 2, 2, 5};
  const ColumnEffect columns = TestColumnEffect(rows, 3, 1, 2000);
  const ColumnEffect cells = TestCellEffect(rows, 3, 1, 1, First, 2000);
  EXPECT_NEAR(cells.p, columns.p, 1e-12);
  EXPECT_NEAR(cells.chance_gap, columns.chance_gap, 1e-9);
}

TEST(Statistics, TheSmallestPIsThatOfDifferencesOfOneSign) {
  for (const int64_t samples : {1, 3, 5, 8}) {
    const std::vector<double> all(static_cast<size_t>(samples), 1.0);
    EXPECT_DOUBLE_EQ(SignFlipPValue(all, 1), SmallestSignFlipP(samples)) << samples;
  }
  EXPECT_DOUBLE_EQ(SmallestSignFlipP(3), 0.25);
  EXPECT_TRUE(std::isnan(SmallestSignFlipP(0)));
}

TEST(Statistics, SwappedPairsTellWhetherGapsDiffer) {
  std::vector<double> flat;
  std::vector<double> sloped;
  SplitMix64 random(5);
  for (int row = 0; row < 20; ++row) {
    for (int column = 0; column < 3; ++column) {
      flat.push_back(static_cast<double>(random.Below(100)));
      sloped.push_back(static_cast<double>(random.Below(100)) + 100.0 * column);
    }
  }
  EXPECT_LT(SwapPValue(sloped, flat, 3, 1, Gap, 1000), 0.01);
  EXPECT_DOUBLE_EQ(SwapPValue(flat, flat, 3, 1, Gap, 1000), 1);
}

// Rows of up to six columns have loops of their own; the same rows with columns that the statistic
// leaves out have more, and take the loop for any number.
TEST(Statistics, EveryNumberOfColumnsGivesTheSameBits) {
  SplitMix64 random(11);
  for (size_t columns = 2; columns <= 6; ++columns) {
    constexpr size_t kRows = 70;
    constexpr size_t kWide = 9;
    std::vector<double> rows;
    std::vector<double> others;
    std::vector<double> cells;  // of two values, the second of which is left out
    std::vector<double> wide_rows(kRows * kWide);
    std::vector<double> wide_others(kRows * kWide);
    for (size_t i = 0; i < kRows * columns; ++i) {
      rows.push_back(static_cast<double>(random.Below(1000)) / 7);
      others.push_back(static_cast<double>(random.Below(1000)) / 11);
      cells.insert(cells.end(), {rows.back(), 0.0});
      wide_rows[i / columns * kWide + i % columns] = rows.back();
      wide_others[i / columns * kWide + i % columns] = others.back();
    }
    const ColumnStatistic gap = [columns](std::span<const double> values) {
      return *std::max_element(values.begin(), values.begin() + static_cast<int64_t>(columns)) -
             values[0];
    };
    const ColumnEffect narrow = TestCellEffect(rows, columns, 1, 3, First, 200);
    const ColumnEffect broad = TestCellEffect(cells, columns, 2, 3, First, 200);
    EXPECT_EQ(narrow.p, broad.p) << columns;
    EXPECT_EQ(narrow.chance_gap, broad.chance_gap) << columns;
    EXPECT_EQ(SwapPValue(rows, others, columns, 3, gap, 200),
              SwapPValue(wide_rows, wide_others, kWide, 3, gap, 200))
        << columns;
    const Interval interval = BootstrapRowsInterval(rows, columns, 3, gap, 200);
    const Interval wide = BootstrapRowsInterval(wide_rows, kWide, 3, gap, 200);
    EXPECT_EQ(interval.low, wide.low) << columns;
    EXPECT_EQ(interval.high, wide.high) << columns;
  }
}

TEST(Statistics, ATestOfNoDifferencesOrMissingOnesFindsNothing) {
  EXPECT_DOUBLE_EQ(SignFlipPValue(std::vector<double>{0, 0, 0}, 1), 1);
  EXPECT_TRUE(std::isnan(SignFlipPValue(std::vector<double>{1, std::nan("")}, 1)));
  EXPECT_TRUE(std::isnan(TestColumnEffect(std::vector<double>{1, 2, 3}, 1, 1).p));
}

TEST(Statistics, HolmStepsDownAndLeavesMissingOnesOut) {
  // Holm (1979): 4 x 0.01, 3 x 0.02, then at least the previous value, at most 1.
  const std::vector<double> adjusted =
      HolmAdjusted(std::vector<double>{0.02, 0.01, std::nan(""), 0.025, 0.9});
  EXPECT_DOUBLE_EQ(adjusted[1], 0.04);
  EXPECT_DOUBLE_EQ(adjusted[0], 0.06);
  EXPECT_TRUE(std::isnan(adjusted[2]));
  EXPECT_DOUBLE_EQ(adjusted[3], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[4], 0.9);
}

}  // namespace
}  // namespace midscope
