// SPDX-License-Identifier: MIT
#include "probes/cli/text/outcome_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace midscope::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Returns the points of the paths, in order: command letter and y.
std::vector<std::pair<char, double>> PathPoints(const std::string& svg) {
  std::vector<std::pair<char, double>> points;
  const std::regex point("([ML])([0-9.]+) ([0-9.]+)");
  for (std::sregex_iterator at(svg.begin(), svg.end(), point), end; at != end; ++at)
    points.emplace_back((*at)[1].str()[0], std::stod((*at)[3].str()));
  return points;
}

TEST(OutcomeSvg, DrawsLargerValuesHigherOnOneScale) {
  const std::string svg =
      OutcomeSvg("T", "nats", {"1", "5", "10"}, {{"none", {1, 2, 4}}, {"pi(2)", {2, 2, 3}}});
  const auto points = PathPoints(svg);
  ASSERT_EQ(points.size(), 6U);
  EXPECT_GT(points[0].second, points[1].second);
  EXPECT_GT(points[1].second, points[2].second);
  EXPECT_EQ(points[1].second, points[3].second);
  EXPECT_NEAR(points[0].second - points[1].second, (points[1].second - points[2].second) / 2, 0.11);
}

TEST(OutcomeSvg, LeavesAGapWhereThereIsNoValue) {
  const std::string svg = OutcomeSvg("T", "nats", {"1", "2", "3", "4"}, {{"a", {1, kNone, 2, 3}}});
  const auto points = PathPoints(svg);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].first, 'M');
  EXPECT_EQ(points[1].first, 'M');
  EXPECT_EQ(points[2].first, 'L');
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(OutcomeSvg, EscapesTextAndTakesNoValues) {
  const std::string svg = OutcomeSvg("a < b", "nats", {"1"}, {{"<script>", {kNone}}});
  EXPECT_THAT(svg, HasSubstr("a &lt; b"));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace midscope::cli
