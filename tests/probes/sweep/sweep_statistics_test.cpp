// SPDX-License-Identifier: MIT
#include "probes/sweep/sweep_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "core/base/error.h"
#include "core/base/random.h"
#include "probes/sweep/plan_texts.h"

namespace midscope {
namespace {

using ::testing::DoubleNear;

SweepPlan Plan() {
  SweepPlan plan;
  plan.places = {1, 10, 20};
  plan.settings = {ReadSetting("none"), ReadSetting("channel(1, factor=-1)"),
                   ReadSetting("channel(7, factor=-1)")};
  plan.settings[2].control_of = plan.settings[1].text;
  return plan;
}

// Under `none`, place 10 costs 1 nat and place 20 2 nats more than place 1; the channel removes the
// slope; the control only adds noise.
std::vector<SampleOutcome> NoisyOutcomes() {
  SplitMix64 random(8);
  const auto noise = [&] { return static_cast<double>(random.Below(1000)) / 5000; };
  std::vector<SampleOutcome> outcomes;
  for (int64_t sample = 0; sample < 24; ++sample) {
    const double base = static_cast<double>(sample % 5);
    SampleOutcome outcome;
    outcome.sample = sample;
    for (int setting = 0; setting < 3; ++setting) {
      for (int place = 0; place < 3; ++place) {
        outcome.answer_nll.push_back(base + (setting == 1 ? 1.0 : place) + noise());
        outcome.correct.push_back(setting == 1 || place == 0 ? 1 : 0);
      }
    }
    outcomes.push_back(outcome);
  }
  return outcomes;
}

const SettingComparison& Find(const SweepStatistics& statistics, const std::string& measure,
                              size_t setting, size_t against, const std::string& what) {
  for (const SettingComparison& one : statistics.comparisons) {
    if (one.measure == measure && one.setting == setting && one.against == against &&
        one.what == what) {
      return one;
    }
  }
  throw std::logic_error("no comparison " + what);
}

TEST(SweepStatistics, TellWhetherThePlaceMattersAndWhereItIsBest) {
  const SweepStatistics statistics = AnalyseSweep(Plan(), NoisyOutcomes());
  ASSERT_EQ(statistics.settings.size(), 6u);  // two measures
  const SettingStatistics& none = statistics.settings[0];
  EXPECT_EQ(none.measure, "answer_nll");
  EXPECT_THAT(none.gap, DoubleNear(2, 0.1));
  EXPECT_LT(none.gap_interval.low, none.gap);
  EXPECT_EQ(none.best_place, 1);  // the lowest answer_nll
  EXPECT_EQ(none.worst_place, 20);
  EXPECT_LT(none.place_p_holm, 0.01);
  EXPECT_GT(statistics.settings[1].place_p, 0.05);
  EXPECT_EQ(statistics.settings[3].best_place, 1);  // the highest accuracy
}

TEST(SweepStatistics, CompareWithTheFirstSettingAndWithTheControl) {
  const SweepStatistics statistics = AnalyseSweep(Plan(), NoisyOutcomes());
  // Two settings are compared with the first and one with its control: the mean, the gap and three
  // places each.
  EXPECT_EQ(statistics.comparisons.size(), 2u * 3u * 5u);
  const SettingComparison& gap = Find(statistics, "answer_nll", 1, 0, "gap");
  EXPECT_THAT(gap.difference, DoubleNear(-2, 0.15));
  EXPECT_LT(gap.interval.high, -1.5);
  EXPECT_LT(gap.p_holm, 0.01);
  EXPECT_GT(Find(statistics, "answer_nll", 2, 0, "mean").p_holm, 0.05);
  const SettingComparison& control = Find(statistics, "answer_nll", 1, 2, "place 20");
  EXPECT_THAT(control.difference, DoubleNear(-1, 0.1));
  for (const SettingComparison& one : statistics.comparisons) EXPECT_GE(one.p_holm, one.p);
}

TEST(SweepStatistics, OrderOfSamplesDoesNotChangeABit) {
  std::vector<SampleOutcome> outcomes = NoisyOutcomes();
  const SweepStatistics one = AnalyseSweep(Plan(), outcomes);
  std::reverse(outcomes.begin(), outcomes.end());
  const SweepStatistics two = AnalyseSweep(Plan(), outcomes);
  ASSERT_EQ(one.comparisons.size(), two.comparisons.size());
  for (size_t i = 0; i < one.comparisons.size(); ++i) {
    EXPECT_EQ(one.comparisons[i].difference, two.comparisons[i].difference);
    EXPECT_EQ(one.comparisons[i].p, two.comparisons[i].p);
    EXPECT_EQ(one.comparisons[i].interval.low, two.comparisons[i].interval.low);
  }
}

TEST(SweepStatistics, AdviseOfSamplesByTheWidestSpread) {
  const SweepStatistics statistics = AnalyseSweep(Plan(), NoisyOutcomes());
  ASSERT_FALSE(statistics.advice.empty());
  const SampleAdvice& nll = statistics.advice.front();
  EXPECT_EQ(nll.wanted, 0.1);
  // More samples are needed exactly if the detectable difference is larger than the wanted one.
  EXPECT_EQ(nll.samples_for_wanted > statistics.samples, nll.detectable > nll.wanted);
}

TEST(SweepStatistics, TheGapByChanceStandsBesideTheGap) {
  const SweepStatistics statistics = AnalyseSweep(Plan(), NoisyOutcomes());
  const SettingStatistics& none = statistics.settings[0];
  EXPECT_GT(none.gap, 3 * none.chance_gap);
  // The channel removes the slope, so only the effect of noise remains.
  const SettingStatistics& flat = statistics.settings[1];
  EXPECT_GT(flat.chance_gap, 0);
  EXPECT_LT(flat.gap, 3 * flat.chance_gap);
}

TEST(SweepStatistics, PlacesWithTheBestMeanShareIt) {
  std::vector<SampleOutcome> outcomes = NoisyOutcomes();
  const SweepPlan plan = Plan();
  const size_t places = plan.places.size();
  for (SampleOutcome& outcome : outcomes) {
    for (size_t i = 0; i < outcome.correct.size(); ++i)
      outcome.correct[i] = i % places == 0 || i % places + 1 == places;
  }
  const SettingStatistics accuracy = AnalyseSweep(plan, outcomes).settings[3];
  ASSERT_EQ(accuracy.measure, "accuracy");
  EXPECT_EQ(accuracy.best_place, plan.places.front());
  EXPECT_EQ(accuracy.best_places, (std::vector<int64_t>{plan.places.front(), plan.places.back()}));
  EXPECT_EQ(PlacesText(plan, accuracy.best_places),
            std::to_string(plan.places.front()) + " and " + std::to_string(plan.places.back()));
  EXPECT_EQ(accuracy.worst_places.size(), places - 2);
}

TEST(SweepStatistics, NoPlaceIsBestWhereAllAreEqual) {
  std::vector<SampleOutcome> outcomes = NoisyOutcomes();
  for (SampleOutcome& outcome : outcomes)
    std::fill(outcome.correct.begin(), outcome.correct.end(), 0);
  const SweepStatistics statistics = AnalyseSweep(Plan(), outcomes);
  const SettingStatistics& accuracy = statistics.settings[3];
  ASSERT_EQ(accuracy.measure, "accuracy");
  EXPECT_EQ(accuracy.gap, 0);
  EXPECT_FALSE(accuracy.best_place);
  EXPECT_FALSE(accuracy.worst_place);
  EXPECT_GT(accuracy.mean_interval.high, 0.05);  // 0 of 24 samples does not mean a certain 0
  EXPECT_GT(Find(statistics, "accuracy", 1, 0, "mean").interval.high, 0);
}

TEST(SweepStatistics, FewSamplesAreNotAdvisedByAndSayHowSmallPCanBe) {
  std::vector<SampleOutcome> outcomes = NoisyOutcomes();
  outcomes.resize(4);
  const SweepStatistics few = AnalyseSweep(Plan(), outcomes);
  EXPECT_TRUE(few.advice.empty());
  EXPECT_DOUBLE_EQ(few.comparisons[0].smallest_p, 0.125);
  for (const SettingComparison& one : few.comparisons) {
    if (one.what == "gap") continue;  // its p comes from random permutations
    EXPECT_GE(one.p, 0.125);
  }
  outcomes = NoisyOutcomes();
  outcomes.resize(5);
  EXPECT_EQ(AnalyseSweep(Plan(), outcomes).advice.front().samples, 5);
}

TEST(SweepStatistics, ComparisonsAreOverTheSamplesThatBothSettingsRan) {
  std::vector<SampleOutcome> outcomes = NoisyOutcomes();
  for (size_t i = 0; i < 4; ++i) {
    outcomes[i].failures = {"prompt too long: it is", "", ""};
    std::fill_n(outcomes[i].answer_nll.begin(), 3, std::nan(""));
  }
  const SweepStatistics statistics = AnalyseSweep(Plan(), outcomes);
  EXPECT_EQ(statistics.settings[0].samples, 20);
  EXPECT_EQ(statistics.settings[1].samples, 24);
  EXPECT_THAT(statistics.settings[0].gap, DoubleNear(2, 0.1));
  const SettingComparison& gap = Find(statistics, "answer_nll", 1, 0, "gap");
  EXPECT_EQ(gap.samples, 20);
  EXPECT_THAT(gap.difference, DoubleNear(-2, 0.15));
  EXPECT_EQ(Find(statistics, "answer_nll", 1, 2, "mean").samples, 24);  // compared with the control
}

TEST(SweepStatistics, RecordsSayTheSame) {
  const SweepPlan plan = Plan();
  const SweepStatistics statistics = AnalyseSweep(plan, NoisyOutcomes());
  const Record settings = SettingStatisticsRecord(plan, statistics);
  settings.Check();
  EXPECT_EQ(std::get<std::vector<double>>(settings.FindArray("answer_nll_gap")->data)[0],
            statistics.settings[0].gap);
  EXPECT_EQ(std::get<std::vector<double>>(settings.FindArray("answer_nll_gap_by_chance")->data)[0],
            statistics.settings[0].chance_gap);
  EXPECT_EQ(std::get<std::string>(settings.attributes.at("accuracy_mean_interval")),
            "Wilson's score on the effective number of samples");
  const Record comparisons = SettingComparisonsRecord(plan, statistics);
  comparisons.Check();
  EXPECT_EQ(std::get<std::string>(comparisons.attributes.at("accuracy_place_difference_interval")),
            "Tango's paired score");
  EXPECT_EQ(std::get<std::vector<double>>(comparisons.FindArray("p_holm")->data)[3],
            statistics.comparisons[3].p_holm);
}

// Results of permutations are read from the file; for other samples they are computed.
TEST(SweepStatistics, TestsAreTakenFromRecordsOfTheSameSamples) {
  const SweepPlan plan = Plan();
  const SweepStatistics computed = AnalyseSweep(plan, NoisyOutcomes());
  std::vector<Record> tests = {SettingStatisticsRecord(plan, computed),
                               SettingComparisonsRecord(plan, computed)};
  const auto texts = [&](const SweepStatistics& statistics) {
    std::string all;
    for (const Record& record :
         {SettingStatisticsRecord(plan, statistics), SettingComparisonsRecord(plan, statistics)}) {
      for (const Array& array : record.arrays) {
        const auto* values = std::get_if<std::vector<double>>(&array.data);
        for (size_t i = 0; values && i < values->size(); ++i)
          all += array.name + " " + std::to_string(std::bit_cast<uint64_t>((*values)[i])) + "\n";
      }
    }
    return all;
  };
  EXPECT_EQ(texts(AnalyseSweep(plan, NoisyOutcomes(), tests)), texts(computed));
  for (Record& record : tests) {
    for (Array& array : record.arrays) {
      if (array.name == "p" || array.name.ends_with("_place_p"))
        std::get<std::vector<double>>(array.data).assign(array.name == "p" ? 30 : 3, 0.25);
    }
  }
  const SweepStatistics taken = AnalyseSweep(plan, NoisyOutcomes(), tests);
  EXPECT_EQ(taken.settings[4].place_p, 0.25);
  EXPECT_EQ(Find(taken, "accuracy", 1, 2, "gap").p, 0.25);
  std::vector<SampleOutcome> others = NoisyOutcomes();
  others.pop_back();
  EXPECT_EQ(texts(AnalyseSweep(plan, others, tests)), texts(AnalyseSweep(plan, others)));
}

TEST(SweepStatistics, EndWithTheJob) {
  const std::atomic<bool> cancel = true;
  JobContext job;
  job.cancel = &cancel;
  EXPECT_THROW(AnalyseSweep(Plan(), NoisyOutcomes(), {}, job), Cancelled);
}

TEST(SweepStatistics, NoSamplesOneSampleAndOnePlaceAreAllowed) {
  EXPECT_TRUE(AnalyseSweep(Plan(), {}).settings.empty());
  EXPECT_TRUE(std::isnan(AnalyseSweep(Plan(), {NoisyOutcomes()[0]}).settings[0].gap_interval.low));
  SweepPlan plan = Plan();
  plan.places = {1};
  std::vector<SampleOutcome> outcomes = {{0, {1, 2, 3}, {1, 1, 1}}, {1, {1, 3, 3}, {1, 1, 0}}};
  const SweepStatistics statistics = AnalyseSweep(plan, outcomes);
  EXPECT_TRUE(std::isnan(statistics.settings[0].place_p));
  EXPECT_EQ(Find(statistics, "answer_nll", 1, 0, "place 1").difference, 1.5);
}

TEST(SweepStatistics, TheGenerationArmStandsForAccuracyWhereItIsAlone) {
  SampleOutcome outcome;
  outcome.generation_score = {0.25, 0.5};
  const std::vector<CellStatistics> cells = SummariseOutcomes({outcome}, 1, 2, 1);
  EXPECT_EQ(cells[1].accuracy, 0.5);
  EXPECT_EQ(cells[1].generation_score, 0.5);
  EXPECT_TRUE(std::isnan(cells[1].answer_nll));
  outcome.answer_nll = {1, 2};
  outcome.correct = {1, 0};
  EXPECT_EQ(SummariseOutcomes({outcome}, 1, 2, 1)[0].accuracy, 1);
}

}  // namespace
}  // namespace midscope
