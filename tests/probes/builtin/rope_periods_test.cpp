// SPDX-License-Identifier: MIT
// The output of `midscope rope`, compared with independently computed numbers.
#include "probes/measure/builtin/rope_periods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace midscope {
namespace {

RopeQuestion Question(int64_t dimensions, double base, int64_t context, double factor = 1) {
  RopeQuestion question;
  question.dimensions = dimensions;
  question.base = base;
  question.context = context;
  question.factor = factor;
  return question;
}

template <typename T>
const std::vector<T>& Values(const Record& record, const std::string& name) {
  return std::get<std::vector<T>>(record.FindArray(name)->data);
}

TEST(RopePeriods, DimensionsThatTurnWithinTheContext) {
  struct Case {
    double base;
    int64_t dimensions;
    int64_t first;
  };
  for (const Case& c : {Case{1e4, 92, 46}, Case{500, 128, -1}, Case{1e6, 62, 31}}) {
    const Record record = RopePeriods(Question(128, c.base, 4096));
    record.Check();
    EXPECT_EQ(Values<int64_t>(record, "dimensions_within_context").at(0), c.dimensions) << c.base;
    EXPECT_EQ(Values<int64_t>(record, "first_pair_over_context").at(0), c.first) << c.base;
    const auto& completes = Values<uint8_t>(record, "completes");
    EXPECT_EQ(2 * std::count(completes.begin(), completes.end(), 1), c.dimensions);
  }
}

TEST(RopePeriods, HeadsOfMsPoeTurnSlowerByTheirRatio) {
  RopeQuestion question = Question(128, 1e4, 4096, 1);
  question.least_ratio = 1.2;
  question.largest_ratio = 1.8;
  const Record record = RopePeriods(question);
  record.Check();
  const std::vector<std::string> expected = {"none", "ms-poe(min=1.2, max=1.8), least ratio",
                                             "ms-poe(min=1.2, max=1.8), largest ratio"};
  EXPECT_EQ(record.FindAxis("scheme")->labels, expected);
  const auto& period = Values<double>(record, "period");
  for (size_t pair = 0; pair < 64; ++pair) {
    EXPECT_NEAR(period[64 + pair] / period[pair], 1.2, 1e-12);
    EXPECT_NEAR(period[128 + pair] / period[pair], 1.8, 1e-12);
  }
  question.largest_ratio = 1;
  EXPECT_THROW(RopePeriods(question), Error);
  question.least_ratio = 0;
  EXPECT_THROW(RopePeriods(question), Error);
}

TEST(RopePeriods, SchemesStandBesideOneAnother) {
  RopeQuestion question = Question(128, 1e4, 4096, 8);
  question.new_base = 5e5;
  const Record record = RopePeriods(question);
  record.Check();
  const std::vector<std::string> expected = {"none",
                                             "base(500000)",
                                             "pi(8)",
                                             "ntk(8)",
                                             "yarn(8, form=repo)",
                                             "yarn(8, form=paper)",
                                             "yarn(8, form=cream)"};
  EXPECT_EQ(record.FindAxis("scheme")->labels, expected);
  const auto& frequency = Values<double>(record, "frequency");
  const auto at = [&](size_t scheme, size_t pair) { return frequency[scheme * 64 + pair]; };
  EXPECT_EQ(at(3, 0), 1.0);
  EXPECT_NEAR(at(3, 63) * 8 / at(0, 63), 1, 1e-12);
  EXPECT_NEAR(Values<double>(record, "base")[3], 82684.6226, 1e-4);
  EXPECT_NEAR(at(4, 33) / at(0, 33), 0.5625, 1e-12);
  EXPECT_NEAR(at(5, 33) / at(0, 33), 0.256, 5e-4);
  EXPECT_NEAR(at(6, 33) / at(0, 33), 0.2222, 5e-5);
  EXPECT_EQ(std::get<double>(record.attributes.at("yarn_ramp_low")), 20);
  EXPECT_EQ(std::get<double>(record.attributes.at("yarn_ramp_high")), 46);
  // The number of periods of interpolated positions in the stretched context equals that of plain
  // positions in the trained one.
  EXPECT_EQ(Values<int64_t>(record, "dimensions_within_stretched")[2], 92);
  EXPECT_LT(Values<int64_t>(record, "dimensions_within_context")[2], 92);
  EXPECT_NEAR(Values<double>(record, "magnitude")[4], 1.2079, 5e-5);
}

TEST(RopePeriods, DecayStartsAtOneAndItsBoundAtTheMeanOfPartialSums) {
  const Record record = RopePeriods(Question(8, 100, 50, 2));
  record.Check();
  const Axis& distance = *record.FindAxis("distance");
  EXPECT_EQ(distance.values.front(), 0);
  EXPECT_EQ(distance.values.back(), 100);
  const auto& similarity = Values<double>(record, "similarity");
  const auto& bound = Values<double>(record, "decay_bound");
  EXPECT_DOUBLE_EQ(similarity[0], 1);
  EXPECT_DOUBLE_EQ(bound[0], (1 + 2 + 3 + 4) / 4.0);
  const double expected = (std::cos(3.0) + std::cos(3 / std::sqrt(std::sqrt(100.0))) +
                           std::cos(3 / 10.0) + std::cos(3 * std::pow(100.0, -0.75))) /
                          4;
  EXPECT_NEAR(similarity[3], expected, 1e-12);
  // Sinusoidal encodings have the same inner product.
  const auto& encoding = Values<float>(record, "sinusoidal_encoding");
  double product = 0;
  for (size_t i = 0; i < 8; ++i) product += double{encoding[i]} * encoding[24 + i];
  EXPECT_NEAR(product / 4, expected, 1e-6);
}

TEST(RopePeriods, OddSizesAndOneTokenAreFine) {
  for (const int64_t dimensions : {2, 6, 34}) {
    for (const int64_t context : {1, 7, 1000003}) {
      RopePeriods(Question(dimensions, 1e4, context, 3)).Check();
    }
  }
}

TEST(RopePeriods, RefusesWhatIsNoRotation) {
  EXPECT_THROW(RopePeriods(Question(127, 1e4, 4096)), Error);
  EXPECT_THROW(RopePeriods(Question(0, 1e4, 4096)), Error);
  EXPECT_THROW(RopePeriods(Question(128, 1, 4096)), Error);
  EXPECT_THROW(RopePeriods(Question(128, 1e4, 0)), Error);
  EXPECT_THROW(RopePeriods(Question(128, 1e4, 4096, 0.5)), Error);
}

}  // namespace
}  // namespace midscope
