// SPDX-License-Identifier: MIT
// The arithmetic of position schemes, compared with numbers calculated by hand or in a few lines of
// Python (base 10,000, 128 dimensions, context 4,096 unless stated otherwise).
#include "core/intervention/rope_schemes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace midscope {
namespace {

// How many pairs turn at least once within the context.
int64_t PairsWithin(double base, int64_t dimensions, double context) {
  const std::vector<double> periods = Periods(PlainFrequencies(base, dimensions));
  return std::count_if(periods.begin(), periods.end(), [&](double p) { return p <= context; });
}

YarnSettings Yarn(YarnForm form, double factor = 8, double context = 4096) {
  return {factor, context, 32, 1, form};
}

TEST(RopeSchemes, PeriodsAgainstTheContext) {
  EXPECT_EQ(PairsWithin(1e4, 128, 4096), 46);  // 92 of 128 dimensions
  EXPECT_EQ(PairsWithin(500, 128, 4096), 64);
  EXPECT_EQ(PairsWithin(1e6, 128, 4096), 31);
  EXPECT_NEAR(Periods(PlainFrequencies(1e4, 128))[46], 4711.7, 0.05);
  EXPECT_NEAR(Periods(PlainFrequencies(500, 128)).back(), 2850.9, 0.05);
  EXPECT_NEAR(PlainFrequencies(1e4, 128)[63], 1.154782e-4, 1e-10);
}

TEST(RopeSchemes, NtkKeepsTheFirstPairAndDividesTheLastByTheFactor) {
  EXPECT_NEAR(NtkBase(1e4, 8, 128), 82684.6226, 1e-4);
  for (const int64_t dimensions : {4, 18, 64, 128, 256}) {
    const auto plain = PlainFrequencies(1e4, dimensions);
    const auto ntk = PlainFrequencies(NtkBase(1e4, 8, dimensions), dimensions);
    EXPECT_EQ(ntk.front(), 1.0);
    EXPECT_NEAR(ntk.back() / (plain.back() / 8), 1, 1e-12) << dimensions;
  }
  EXPECT_EQ(NtkBase(1e4, 8, 2), 8e4);
}

TEST(RopeSchemes, DynamicNtkIsPlainWithinItsContextAndNtkBeyond) {
  EXPECT_DOUBLE_EQ(DynamicNtkBase(1e4, 2, 128, 4096, 100), 1e4);
  EXPECT_DOUBLE_EQ(DynamicNtkBase(1e4, 2, 128, 4096, 4096), 1e4);
  // factor 1: as far as the sequence is longer.
  EXPECT_DOUBLE_EQ(DynamicNtkBase(1e4, 1, 128, 4096, 32768), NtkBase(1e4, 8, 128));
  EXPECT_DOUBLE_EQ(DynamicNtkBase(1e4, 2, 128, 4096, 8192), NtkBase(1e4, 3, 128));
}

TEST(RopeSchemes, YarnRampsAreThePublicCodes) {
  struct Case {
    int64_t dimensions;
    double base;
    double context;
    double low;
    double high;
  };
  for (const Case& c :
       {Case{128, 1e4, 4096, 20, 46}, Case{128, 1e4, 2048, 16, 41}, Case{128, 5e5, 8192, 18, 35},
        Case{64, 5e5, 8192, 9, 18}, Case{128, 1e6, 32768, 23, 40}}) {
    const YarnRange range =
        YarnCorrectionRange(c.base, c.dimensions, Yarn(YarnForm::kRepo, 8, c.context));
    EXPECT_EQ(range.low, c.low) << c.base << " " << c.context;
    EXPECT_EQ(range.high, c.high) << c.base << " " << c.context;
  }
  // The upper end is held to d - 1; an empty ramp keeps a width.
  EXPECT_EQ(YarnCorrectionRange(1e4, 8, Yarn(YarnForm::kRepo, 8, 1e9)).high, 7);
  const YarnRange empty = YarnCorrectionRange(1e4, 128, Yarn(YarnForm::kRepo, 8, 6));
  EXPECT_EQ(empty.low, 0);
  EXPECT_GT(empty.high, empty.low);
}

TEST(RopeSchemes, ThreeYarnsDifferInTheMiddleAndAgreeAtTheEnds) {
  const auto plain = PlainFrequencies(1e4, 128);
  const auto share = [&](YarnForm form, size_t pair) {
    return YarnFrequencies(1e4, 128, Yarn(form))[pair] / plain[pair];
  };
  EXPECT_NEAR(share(YarnForm::kRepo, 33), 0.5625, 1e-12);
  EXPECT_NEAR(share(YarnForm::kPaper, 33), 0.256, 5e-4);
  EXPECT_NEAR(share(YarnForm::kCream, 33), 1 / 4.5, 1e-12);
  for (const YarnForm form : {YarnForm::kRepo, YarnForm::kPaper, YarnForm::kCream}) {
    EXPECT_EQ(share(form, 0), 1.0) << YarnFormName(form);
    EXPECT_DOUBLE_EQ(share(form, 63), 1.0 / 8) << YarnFormName(form);
    const auto unchanged = YarnFrequencies(1e4, 128, Yarn(form, 1));
    for (size_t pair = 0; pair < plain.size(); ++pair) {
      EXPECT_DOUBLE_EQ(unchanged[pair], plain[pair]) << YarnFormName(form) << " " << pair;
    }
  }
}

TEST(RopeSchemes, YarnsMagnitude) {
  EXPECT_NEAR(YarnMagnitude(8), 1.2079, 5e-5);
  EXPECT_NEAR(YarnMagnitude(8) * YarnMagnitude(8), 1.4591, 5e-5);
  EXPECT_NEAR(YarnMagnitude(16), 1.2773, 5e-5);
  EXPECT_EQ(YarnMagnitude(1), 1);
  EXPECT_EQ(YarnMagnitude(0.5), 1);
}

TEST(RopeSchemes, InterpolationDividesEveryFrequency) {
  const auto plain = PlainFrequencies(1e4, 6);
  const auto divided = InterpolatedFrequencies(plain, 4);
  for (size_t pair = 0; pair < plain.size(); ++pair) EXPECT_EQ(divided[pair], plain[pair] / 4);
}

}  // namespace
}  // namespace midscope
