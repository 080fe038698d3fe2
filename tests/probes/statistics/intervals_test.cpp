// SPDX-License-Identifier: MIT
// Intervals compared with scipy (make_statistics_golden.py), and how often they contain the true
// value. The printed coverages are those that SWEEPS.md states.
#include "probes/measure/statistics/intervals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <vector>

#include "core/base/random.h"
#include "tests/paths.h"

namespace midscope {
namespace {

const nlohmann::json& Golden() {
  static const auto golden =
      nlohmann::json::parse(std::ifstream(MIDSCOPE_TESTS "/probes/golden/statistics_golden.json"));
  return golden;
}

bool Holds(const Interval& interval, double value) {
  return interval.low <= value && value <= interval.high;
}

// A source of random numbers for simulations.
class Draws {
 public:
  explicit Draws(uint64_t seed) : random_(seed) {}
  // Returns a number in (0, 1).
  double Uniform() { return (static_cast<double>(random_.Next() >> 11) + 0.5) * 0x1.0p-53; }
  double Normal() {
    return std::sqrt(-2 * std::log(Uniform())) * std::cos(2 * std::numbers::pi * Uniform());
  }

 private:
  SplitMix64 random_;
};

TEST(Intervals, StudentQuantilesAreScipys) {
  for (const auto& row : Golden().at("t_quantiles")) {
    EXPECT_NEAR(StudentQuantile(row[0]), row[1].get<double>(), 1e-9) << row[0];
  }
  EXPECT_EQ(StudentQuantile(0), HUGE_VAL);
  EXPECT_NEAR(StudentQuantile(1'000'000'000), 1.959963984540054, 1e-8);
  EXPECT_NEAR(StudentQuantile(2000), StudentQuantile(2001), 1e-6);  // the formula changes here
}

TEST(Intervals, OfAMeanIsScipysT) {
  const nlohmann::json& golden = Golden();
  const Interval interval = MeanInterval(golden.at("differences").get<std::vector<double>>());
  EXPECT_NEAR(interval.low, golden.at("t_interval")[0].get<double>(), 1e-9);
  EXPECT_NEAR(interval.high, golden.at("t_interval")[1].get<double>(), 1e-9);
}

TEST(Intervals, OfAShareIsScipysWilson) {
  for (const auto& row : Golden().at("wilson")) {
    const double samples = row[1];
    const Interval interval = ShareInterval(row[0].get<double>() / samples, samples);
    EXPECT_NEAR(interval.low, row[2].get<double>(), 1e-9) << row;
    EXPECT_NEAR(interval.high, row[3].get<double>(), 1e-9) << row;
  }
}

// 12 compared with 2 of 50 is Newcombe's example (Statistics in Medicine 17, 1998): 0.061 to 0.345.
TEST(Intervals, OfADifferenceOfSharesIsTangosByItsDefinition) {
  for (const auto& row : Golden().at("tango")) {
    const Interval interval = PairedShareInterval(row[0], row[1], row[2]);
    EXPECT_NEAR(interval.low, row[3].get<double>(), 1e-6) << row;
    EXPECT_NEAR(interval.high, row[4].get<double>(), 1e-6) << row;
  }
}

TEST(Intervals, AreNeverOfNoWidthAtTheEndsOfShares) {
  // With no gains and no losses, the limits are z^2 / (n + z^2) on both sides (Tango, 1998).
  const double end = 1.959963984540054 * 1.959963984540054;
  const Interval none = PairedShareInterval(0, 0, 40);
  EXPECT_NEAR(none.low, -end / (40 + end), 1e-9);
  EXPECT_NEAR(none.high, end / (40 + end), 1e-9);
  const Interval all_lost = PairedShareInterval(0, 3, 3);
  EXPECT_EQ(all_lost.low, -1);
  EXPECT_GT(all_lost.high, -0.7);
  const std::vector<double> wrong(15, 0.0);  // 3 samples at 5 places
  EXPECT_EQ(RowShareInterval(wrong, 5).low, 0);
  EXPECT_GT(RowShareInterval(wrong, 5).high, 0.5);
}

TEST(Intervals, OfOneColumnAreThoseOfShares) {
  const std::vector<double> right = {1, 0, 0, 1, 1, 0, 0, 0};
  const Interval rows = RowShareInterval(right, 1);
  EXPECT_EQ(rows.low, ShareInterval(3.0 / 8, 8).low);
  EXPECT_EQ(rows.high, ShareInterval(3.0 / 8, 8).high);
  const std::vector<double> differences = {1, 0, 0, -1, 1, 0, 0, 0};
  EXPECT_EQ(PairedRowShareInterval(differences, 1).low, PairedShareInterval(2, 1, 8).low);
}

TEST(Intervals, OfRowsThatAreAlikeCountEachRowOnce) {
  // Both columns of a row are equal, so there are as many samples as rows, with Student's quantile.
  std::vector<double> alike;
  std::vector<double> apart;
  for (int row = 0; row < 40; ++row) {
    alike.insert(alike.end(), 2, row % 2);
    apart.insert(apart.end(), {row % 2 == 0 ? 1.0 : 0.0, row % 2 == 0 ? 0.0 : 1.0});
  }
  const double width = RowShareInterval(alike, 2).high - RowShareInterval(alike, 2).low;
  EXPECT_NEAR(width, ShareInterval(0.5, 40).high - ShareInterval(0.5, 40).low, 0.01);
  const double narrow = RowShareInterval(apart, 2).high - RowShareInterval(apart, 2).low;
  EXPECT_LT(narrow, 0.75 * width);
}

TEST(Intervals, SayNothingOfTooFewOrMissingValues) {
  EXPECT_TRUE(std::isnan(MeanInterval(std::vector<double>{4}).low));
  EXPECT_TRUE(std::isnan(MeanInterval(std::vector<double>{4, std::nan("")}).high));
  EXPECT_TRUE(std::isnan(ShareInterval(0.5, 0).low));
  EXPECT_TRUE(std::isnan(RowShareInterval(std::vector<double>{1, 0}, 2).low));
  EXPECT_TRUE(std::isnan(PairedShareInterval(0, 0, 0).low));
}

TEST(IntervalCoverage, MeansByTFromThreeSamplesOn) {
  Draws draws(11);
  for (const int samples : {3, 4, 6, 8, 10, 20, 40}) {
    constexpr int kTrials = 8000;
    int held = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> values(static_cast<size_t>(samples));
      for (double& value : values) value = draws.Normal();
      held += Holds(MeanInterval(values), 0) ? 1 : 0;
    }
    const double share = static_cast<double>(held) / kTrials;
    std::printf("mean by t, %d samples: %.3f\n", samples, share);
    EXPECT_GE(share, 0.94) << samples;
    EXPECT_LE(share, 0.96) << samples;
  }
}

TEST(IntervalCoverage, SharesByWilsonOverSharesFromFiveToNinetyFivePercent) {
  Draws draws(12);
  for (const int samples : {3, 5, 8, 10, 20, 40, 100}) {
    constexpr int kTrials = 1500;
    int held = 0;
    int asked = 0;
    for (int percent = 5; percent <= 95; percent += 5) {
      const double truth = percent / 100.0;
      for (int trial = 0; trial < kTrials; ++trial) {
        int right = 0;
        for (int i = 0; i < samples; ++i) right += draws.Uniform() < truth ? 1 : 0;
        held += Holds(ShareInterval(static_cast<double>(right) / samples, samples), truth) ? 1 : 0;
        ++asked;
      }
    }
    const double share = static_cast<double>(held) / asked;
    std::printf("share by Wilson, %d samples: %.3f\n", samples, share);
    EXPECT_GE(share, 0.94) << samples;
    EXPECT_LE(share, 0.97) << samples;
  }
}

TEST(IntervalCoverage, DifferencesOfSharesByTango) {
  Draws draws(13);
  for (const int samples : {3, 5, 10, 20, 40, 100}) {
    constexpr int kShares = 60;
    constexpr int kTrials = 300;
    int held = 0;
    for (int pair = 0; pair < kShares; ++pair) {
      // Two shares and the correlation of their samples, from independent to the largest possible.
      const double first = 0.05 + 0.9 * draws.Uniform();
      const double second = 0.05 + 0.9 * draws.Uniform();
      const double apart = first * second;
      const double both = apart + (std::min(first, second) - apart) * draws.Uniform();
      for (int trial = 0; trial < kTrials; ++trial) {
        int gained = 0;
        int lost = 0;
        for (int i = 0; i < samples; ++i) {
          const double drawn = draws.Uniform();
          gained += drawn < first - both ? 1 : 0;
          lost += drawn >= first - both && drawn < first + second - 2 * both ? 1 : 0;
        }
        held += Holds(PairedShareInterval(gained, lost, samples), first - second) ? 1 : 0;
      }
    }
    const double share = static_cast<double>(held) / (kShares * kTrials);
    std::printf("difference of shares by Tango, %d samples: %.3f\n", samples, share);
    EXPECT_GE(share, 0.94) << samples;
    EXPECT_LE(share, samples < 20 ? 0.995 : 0.975) << samples;
  }
}

// Samples may be easy or hard at all places, and places easy or hard for all samples.
TEST(IntervalCoverage, SharesOverPlacesOnTheEffectiveNumberOfSamples) {
  Draws draws(14);
  constexpr size_t kPlaces = 5;
  const auto chance = [](double logit) { return 1 / (1 + std::exp(-logit)); };
  for (const size_t samples : {3U, 5U, 10U, 20U, 40U}) {
    int held = 0;
    int held_difference = 0;
    constexpr int kCases = 24;
    constexpr int kTrials = 60;
    for (int one = 0; one < kCases; ++one) {
      const double spread = one % 3;  // standard deviation between samples
      std::vector<double> first(kPlaces);
      std::vector<double> second(kPlaces);
      const double base = draws.Normal();
      for (size_t place = 0; place < kPlaces; ++place) {
        first[place] = base + draws.Normal();
        second[place] = first[place] + 0.5 + 0.5 * draws.Normal();
      }
      double truth = 0;
      double truth_difference = 0;
      constexpr int kTruth = 4000;
      for (int i = 0; i < kTruth; ++i) {
        const double sample = spread * draws.Normal();
        for (size_t place = 0; place < kPlaces; ++place) {
          truth += chance(first[place] + sample) / (kTruth * kPlaces);
          truth_difference +=
              (chance(second[place] + sample) - chance(first[place] + sample)) / (kTruth * kPlaces);
        }
      }
      for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> rows(samples * kPlaces);
        std::vector<double> differences(samples * kPlaces);
        for (size_t i = 0; i < samples; ++i) {
          const double sample = spread * draws.Normal();
          for (size_t place = 0; place < kPlaces; ++place) {
            const size_t cell = i * kPlaces + place;
            rows[cell] = draws.Uniform() < chance(first[place] + sample) ? 1 : 0;
            differences[cell] =
                (draws.Uniform() < chance(second[place] + sample) ? 1 : 0) - rows[cell];
          }
        }
        held += Holds(RowShareInterval(rows, kPlaces), truth) ? 1 : 0;
        held_difference +=
            Holds(PairedRowShareInterval(differences, kPlaces), truth_difference) ? 1 : 0;
      }
    }
    const double share = static_cast<double>(held) / (kCases * kTrials);
    const double of_differences = static_cast<double>(held_difference) / (kCases * kTrials);
    std::printf("over %zu places, %zu samples: share %.3f, difference of shares %.3f\n", kPlaces,
                samples, share, of_differences);
    EXPECT_GE(share, 0.94) << samples;
    EXPECT_GE(of_differences, 0.94) << samples;
    EXPECT_LE(share, samples < 10 ? 1 : 0.99) << samples;
    EXPECT_LE(of_differences, samples < 10 ? 1 : 0.995) << samples;
  }
}

// The examples in Newcombe 1998, Table II, method 10.
TEST(Intervals, OfIndependentDifferencesAreNewcombes) {
  const auto difference = [](double a, double m, double b, double n) {
    return IndependentDifferenceInterval(a / m, ShareInterval(a / m, m), b / n,
                                         ShareInterval(b / n, n));
  };
  const Interval first = difference(56, 70, 48, 80);
  EXPECT_NEAR(first.low, 0.0524, 5e-5);
  EXPECT_NEAR(first.high, 0.3339, 5e-5);
  const Interval second = difference(9, 10, 3, 10);
  EXPECT_NEAR(second.low, 0.1705, 5e-5);
  EXPECT_NEAR(second.high, 0.8090, 5e-5);
  // A number without an interval counts as exact.
  const Interval exact = IndependentDifferenceInterval(0.5, {0.4, 0.7}, 0.2, {0.2, 0.2});
  EXPECT_NEAR(exact.low, 0.2, 1e-12);
  EXPECT_NEAR(exact.high, 0.5, 1e-12);
}

}  // namespace
}  // namespace midscope
