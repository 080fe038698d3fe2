// SPDX-License-Identifier: MIT
#include "probes/sweep/place_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "core/base/random.h"

namespace midscope {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

SweepPlan PlanOf(size_t places, const std::vector<std::string>& settings = {"none"}) {
  SweepPlan plan;
  for (size_t i = 0; i < places; ++i) plan.places.push_back(static_cast<int64_t>(5 * i + 1));
  for (const std::string& text : settings) plan.settings.push_back(ReadSetting(text));
  return plan;
}

// Samples differ by up to 4 nats and cells by noise of standard deviation 0.29; the last place of
// the first setting costs `effect` more.
std::vector<SampleOutcome> OutcomesOf(const SweepPlan& plan, int64_t samples, double effect,
                                      uint64_t seed) {
  SplitMix64 random(seed);
  const auto uniform = [&] { return static_cast<double>(random.Below(10000)) / 10000; };
  std::vector<SampleOutcome> outcomes;
  for (int64_t sample = 0; sample < samples; ++sample) {
    SampleOutcome outcome;
    outcome.sample = sample;
    const double base = 4 * uniform();
    for (size_t setting = 0; setting < plan.settings.size(); ++setting) {
      for (size_t place = 0; place < plan.places.size(); ++place) {
        const bool planted = setting == 0 && place + 1 == plan.places.size();
        outcome.answer_nll.push_back(base + uniform() + (planted ? effect : 0));
        outcome.correct.push_back(0);
      }
    }
    outcomes.push_back(outcome);
  }
  return outcomes;
}

std::string Two(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << value;
  return text.str();
}

std::vector<PlaceVerdict> VerdictsOf(const SweepPlan& plan, int64_t samples, double effect,
                                     uint64_t seed = 1) {
  return PlaceVerdicts(plan, AnalyseSweep(plan, OutcomesOf(plan, samples, effect, seed)));
}

TEST(PlaceVerdict, NamesTheBestAndTheWorstPlaceWithTheGap) {
  const SweepPlan plan = PlanOf(3);
  const SweepStatistics statistics = AnalyseSweep(plan, OutcomesOf(plan, 40, 1, 1));
  const std::vector<PlaceVerdict> verdicts = PlaceVerdicts(plan, statistics);
  ASSERT_EQ(verdicts.size(), 1u);
  const PlaceVerdict& verdict = verdicts.front();
  EXPECT_EQ(verdict.matters, true);
  EXPECT_EQ(verdict.measure, "answer_nll");
  EXPECT_EQ(verdict.worst, 11);
  EXPECT_EQ(verdict.p, statistics.settings.front().place_p);
  EXPECT_EQ(verdict.gap, statistics.settings.front().gap);
  EXPECT_EQ(verdict.text,
            "place matters: p < 0.001; best " + std::to_string(verdict.best.value_or(0)) +
                ", worst 11, " + Two(verdict.gap) + " nats [" + Two(verdict.gap_interval.low) +
                ", " + Two(verdict.gap_interval.high) + "] apart; chance " + Two(verdict.chance));
}

TEST(PlaceVerdict, WithoutAnEffectItSaysWhichGapTheSamplesDetect) {
  const PlaceVerdict verdict = VerdictsOf(PlanOf(3), 40, 0, 2).front();
  ASSERT_EQ(verdict.matters, false);
  EXPECT_THAT(verdict.text, StartsWith("place does not matter measurably: p = 0."));
  EXPECT_THAT(verdict.text,
              EndsWith("; 40 samples detect a gap of " + Two(verdict.detectable) + " nats"));
  // The noise of a difference is 0.29 x sqrt(2), and 2.8 standard errors are detected.
  EXPECT_NEAR(verdict.detectable, 2.8 * 0.2887 * 1.4142 / 6.3246, 0.03);
}

// p is adjusted over the settings of the table: a second setting doubles it, comparisons of
// settings do not.
TEST(PlaceVerdict, PIsAdjustedOverTheSettings) {
  const SweepPlan plan = PlanOf(3, {"none", "pi(1.5)"});
  const std::vector<PlaceVerdict> verdicts = VerdictsOf(plan, 20, 0.25);
  ASSERT_EQ(verdicts.size(), 2u);
  const double smaller = std::min(verdicts[0].p, verdicts[1].p);
  const PlaceVerdict& first = verdicts[verdicts[0].p == smaller ? 0 : 1];
  EXPECT_DOUBLE_EQ(first.p_adjusted, std::min(1.0, 2 * smaller));
  EXPECT_THAT(first.text, HasSubstr("adjusted p "));
}

TEST(PlaceVerdict, SaysWhyThereIsNone) {
  EXPECT_EQ(VerdictsOf(PlanOf(1), 40, 0).front().text,
            "no verdict on the place: the sweep has one place");
  EXPECT_EQ(VerdictsOf(PlanOf(3), 1, 0).front().text,
            "no verdict on the place: 1 sample is too few, 5 are needed");
  // Between two places, p of 5 samples cannot fall below 2 / 2^5.
  EXPECT_EQ(VerdictsOf(PlanOf(2), 5, 9).front().text,
            "no verdict on the place: 5 samples are too few, 6 are needed");
  EXPECT_EQ(VerdictsOf(PlanOf(2), 5, 9).front().matters, std::nullopt);
  EXPECT_EQ(VerdictsOf(PlanOf(2), 6, 9).front().matters, true);
  EXPECT_TRUE(PlaceVerdicts(PlanOf(2), {}).empty());
}

// Without an effect, at most 5 of 40 sweeps are called one; with 1.5 times the detectable gap, at
// least 18 of 20.
TEST(PlaceVerdict, ItsErrorsAreAsRareAsItsLevelAndPower) {
  const SweepPlan plan = PlanOf(5);
  int wrong = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    if (VerdictsOf(plan, 20, 0, seed).front().matters == true) ++wrong;
  }
  EXPECT_LE(wrong, 5);
  int found = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const double detectable = VerdictsOf(plan, 20, 0, seed).front().detectable;
    if (VerdictsOf(plan, 20, 1.5 * detectable, seed).front().matters == true) ++found;
  }
  EXPECT_GE(found, 18);
}

}  // namespace
}  // namespace midscope
