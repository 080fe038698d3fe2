// SPDX-License-Identifier: MIT
// Contract: without any effect, the smallest of the p values is below 0.05 in about 5 % of
// experiments, for any number of columns, correlated or not; a real effect is found; the same
// values and seed give the same bits.
#include "probes/measure/statistics/joint_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/base/random.h"

namespace midscope {
namespace {

constexpr int kPermutationsHere = 400;

double Normal(SplitMix64& random) {
  const auto uniform = [&] { return (static_cast<double>(random.Next() >> 11) + 0.5) * 0x1p-53; };
  return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
}

// Noise [sample, column]; `shared`: the part of every number that the columns of a sample share.
std::vector<double> Noise(size_t samples, size_t columns, double shared, SplitMix64& random) {
  std::vector<double> rows;
  for (size_t sample = 0; sample < samples; ++sample) {
    const double own = Normal(random);
    for (size_t column = 0; column < columns; ++column)
      rows.push_back(shared * own + (1 - shared) * Normal(random));
  }
  return rows;
}

TEST(JointPValues, FindNothingInNoiseAsOftenAsAsked) {
  for (const double shared : {0.0, 0.8}) {
    SplitMix64 random(3);
    int found = 0;
    constexpr int kExperiments = 400;
    for (int i = 0; i < kExperiments; ++i) {
      const std::vector<double> p = JointPValues(Noise(12, 20, shared, random), 20,
                                                 static_cast<uint64_t>(i), kPermutationsHere);
      found += *std::min_element(p.begin(), p.end()) < 0.05 ? 1 : 0;
    }
    // 5 % of 400 is 20; 3 standard deviations are 13.
    EXPECT_GT(found, 6) << shared;
    EXPECT_LT(found, 34) << shared;
  }
}

TEST(JointPValues, FindAnEffectAmongManyColumns) {
  SplitMix64 random(5);
  std::vector<double> rows = Noise(20, 300, 0.3, random);
  for (size_t sample = 0; sample < 20; ++sample) rows[sample * 300 + 7] += 3;
  const std::vector<double> p = JointPValues(rows, 300, 1, 2000);
  EXPECT_LT(p[7], 0.01);
  EXPECT_EQ(std::min_element(p.begin(), p.end()) - p.begin(), 7);
  EXPECT_EQ(p, JointPValues(rows, 300, 1, 2000));
}

TEST(JointPValues, OfOneColumnAreThoseOfThePairedTest) {
  const std::vector<double> values = {0.3, 0.8, -0.2, 0.5, 0.9, 0.1, 0.4, 0.7, -0.1, 0.6};
  const double alone = SignFlipPValue(values, 1);  // over all 1,024 sign changes
  EXPECT_NEAR(JointPValues(values, 1, 1, 20000)[0], alone, 0.004);
}

TEST(JointPValues, EndWhereTheyAreCancelled) {
  const std::atomic<bool> cancel = true;
  const std::vector<double> values = {1.0, 2.0, -1.0};
  JobContext job;
  job.cancel = &cancel;
  EXPECT_THROW(JointPValues(values, 1, 1, 100, job), Cancelled);
}

TEST(JointPValues, OfNothing) {
  const std::vector<double> zeros = {0, 0.5, 0, 0.7, 0, 0.4};
  const std::vector<double> p = JointPValues(zeros, 2, 1, 100);
  EXPECT_EQ(p[0], 1);
  EXPECT_LT(p[1], 1);
  EXPECT_TRUE(std::isnan(JointPValues(std::vector<double>{1.0, 2.0}, 2, 1)[0]));
  EXPECT_TRUE(std::isnan(JointPValues(std::vector<double>{1.0, NAN, 2.0, 3.0}, 2, 1)[0]));
  EXPECT_TRUE(JointPValues({}, 0, 1).empty());
}

}  // namespace
}  // namespace midscope
