// SPDX-License-Identifier: MIT
// Cubic fits, smoothing and roughness compared with numpy and scipy
// (make_position_trend_golden.py), and the cases in which no conclusion is allowed.
#include "probes/measure/statistics/position_trend.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace midscope {
namespace {

using nlohmann::json;

const json& GoldenTrends() {
  static const json golden =
      json::parse(std::ifstream(MIDSCOPE_TESTS "/probes/golden/position_trend_golden.json"));
  return golden;
}

Trend TrendOf(const std::vector<double>& values) {
  return CubicFit(static_cast<int64_t>(values.size())).TrendOf(values);
}

// Relative to the size of the series, one of which is at -10,000.
double Tolerance(const std::vector<double>& expected) {
  double largest = 1;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  return 1e-10 * largest;
}

void ExpectNear(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], Tolerance(expected)) << i;
  }
}

TEST(PositionTrend, CubicFitsAreNumpys) {
  for (const json& series : GoldenTrends()) {
    SCOPED_TRACE(series["name"]);
    const auto values = series["values"].get<std::vector<double>>();
    const CubicFit fit(static_cast<int64_t>(values.size()));
    ExpectNear(fit.Fitted(values), series["fit"].get<std::vector<double>>());
    const Trend trend = fit.TrendOf(values);
    EXPECT_EQ(series["trend"], trend == Trend::kRising ? 1 : trend == Trend::kFalling ? -1 : 0);
  }
}

TEST(PositionTrend, SmoothingAndRoughnessAreScipysForOddAndEvenWindows) {
  for (const json& series : GoldenTrends()) {
    const auto values = series["values"].get<std::vector<double>>();
    for (const json& expected : series["windows"]) {
      SCOPED_TRACE(series["name"].get<std::string>() + " " + expected["window"].dump());
      const CubicSmoother smoother(expected["window"]);
      ExpectNear(smoother.Smoothed(values), expected["smoothed"].get<std::vector<double>>());
      const double roughness = expected["roughness"];
      EXPECT_NEAR(Roughness(values, smoother) / roughness, 1, 1e-8);
    }
  }
}

TEST(PositionTrend, ACubicIsItsOwnFitAndSmoothing) {
  std::vector<double> values;
  values.reserve(30);
  for (int i = 0; i < 30; ++i) values.push_back(2 - 3.0 * i + 0.5 * i * i - 0.01 * i * i * i);
  ExpectNear(CubicFit(30).Fitted(values), values);
  ExpectNear(CubicSmoother(11).Smoothed(values), values);
}

TEST(PositionTrend, ScaleAndOffsetDoNotMatterSignDoes) {
  std::vector<double> values;
  values.reserve(100);
  for (int i = 0; i < 100; ++i) values.push_back(std::sqrt(i + 3.0) + 0.3 * std::sin(i * 1.7));
  std::vector<double> turned;
  turned.reserve(values.size());
  for (const double value : values) turned.push_back(500 - 1e-3 * value);
  EXPECT_EQ(TrendOf(values), Trend::kRising);
  EXPECT_EQ(TrendOf(turned), Trend::kFalling);
  const CubicSmoother smoother(11);
  EXPECT_NEAR(Roughness(values, smoother) / Roughness(turned, smoother), 1, 1e-6);
}

TEST(PositionTrend, NothingIsSaidOfConstantsAndOfMissingValues) {
  const CubicSmoother smoother(11);
  std::vector<double> values(40, 3.25);
  EXPECT_EQ(TrendOf(values), Trend::kNone);
  EXPECT_TRUE(std::isnan(Roughness(values, smoother)));
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(TrendOf(values), Trend::kRising);
  values[20] = std::nan("");
  EXPECT_EQ(TrendOf(values), Trend::kNone);
  EXPECT_TRUE(std::isnan(Roughness(values, smoother)));
}

TEST(PositionTrend, TooShortSeriesAreBugs) {
  EXPECT_THROW(CubicFit(4), std::logic_error);
  EXPECT_THROW(CubicSmoother(4), std::logic_error);
  EXPECT_THROW(CubicFit(9).TrendOf(std::vector<double>(8)), std::logic_error);
  EXPECT_THROW(CubicSmoother(11).Smoothed(std::vector<double>(10)), std::logic_error);
}

}  // namespace
}  // namespace midscope
