// SPDX-License-Identifier: MIT
// Contracts: the mean over data sets gives each data set the same weight whatever its size, and the
// mean over groups each group; both are checked on numbers calculated by hand.
#include "probes/measure/statistics/group_means.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace midscope {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

SampleOutcome Scored(int64_t sample, const std::string& group, std::vector<double> scores) {
  SampleOutcome outcome;
  outcome.sample = sample;
  outcome.group = group;
  outcome.generation_score = std::move(scores);
  return outcome;
}

const GroupMean* Find(const MeasureGroups& measure, const std::string& name) {
  for (const GroupMean& group : measure.groups) {
    if (group.name == name) return &group;
  }
  return nullptr;
}

// Two settings, one place. Means of data sets: qa/a 1, 0, 0.5 -> 0.5; qa/b 1 -> 1; code/c 0.25 ->
// 0.25.
const std::vector<SampleOutcome>& Outcomes() {
  static const std::vector<SampleOutcome> outcomes = {
      Scored(0, "qa/a", {1, 0}), Scored(1, "qa/b", {1, 0.5}), Scored(2, "code/c", {0.25, 1}),
      Scored(3, "qa/a", {0, 0}), Scored(4, "qa/a", {0.5, 0.75})};
  return outcomes;
}

TEST(GroupMeans, EveryDataSetAndEveryGroupCountsOnce) {
  const std::vector<MeasureGroups> means = GroupMeansOf(Outcomes(), 2, 1);
  ASSERT_EQ(means.size(), 1u);
  const MeasureGroups& scores = means[0];
  EXPECT_EQ(scores.measure, "generation_score");
  std::vector<std::string> names;
  for (const GroupMean& group : scores.groups) names.push_back(group.name);
  EXPECT_THAT(names,
              ElementsAre("code", "code/c", "qa", "qa/a", "qa/b", "all data sets", "all groups"));
  const auto near = [](double value) { return DoubleNear(value, 1e-12); };
  EXPECT_THAT(Find(scores, "qa/a")->mean, ElementsAre(near(0.5), near(0.25)));
  EXPECT_THAT(Find(scores, "qa")->mean, ElementsAre(near(0.75), near(0.375)));
  EXPECT_THAT(Find(scores, "qa")->pooled, ElementsAre(near(0.625), near(0.3125)));
  EXPECT_THAT(Find(scores, "all data sets")->mean,
              ElementsAre(near(1.75 / 3), near((0.25 + 0.5 + 1) / 3)));
  EXPECT_THAT(Find(scores, "all groups")->mean, ElementsAre(near(0.5), near(0.6875)));
  EXPECT_THAT(Find(scores, "all groups")->pooled, ElementsAre(near(0.55), near(0.45)));
  EXPECT_EQ(Find(scores, "all groups")->data_sets, 3);
  EXPECT_EQ(Find(scores, "qa")->samples, 4);
}

TEST(GroupMeans, ASettingThatMissesADataSetHasNoAverage) {
  std::vector<SampleOutcome> outcomes = Outcomes();
  outcomes[2].failures = {"", "too long"};
  outcomes[2].generation_score[1] = NAN;
  const MeasureGroups scores = GroupMeansOf(outcomes, 2, 1).at(0);
  EXPECT_NEAR(Find(scores, "all data sets")->mean[0], 1.75 / 3, 1e-12);
  EXPECT_TRUE(std::isnan(Find(scores, "all data sets")->mean[1]));
  EXPECT_NEAR(Find(scores, "qa")->mean[1], 0.375, 1e-12);
}

TEST(GroupMeans, OneDataSetHasNone) {
  std::vector<SampleOutcome> outcomes = Outcomes();
  for (SampleOutcome& outcome : outcomes) outcome.group = "qa/a";
  EXPECT_TRUE(GroupMeansOf(outcomes, 2, 1).empty());
}

TEST(GroupMeans, TheRecordHasThemByGroupAndSetting) {
  const Record record = GroupMeansRecord({"none", "pi(2)"}, GroupMeansOf(Outcomes(), 2, 1));
  const Array* mean = record.FindArray("generation_score");
  ASSERT_TRUE(mean);
  EXPECT_THAT(mean->axes, ElementsAre("group", "setting"));
  EXPECT_EQ(std::get<std::vector<double>>(mean->data).size(), 14u);
  EXPECT_EQ(record.FindAxis("group")->labels[2], "qa");
}

}  // namespace
}  // namespace midscope
