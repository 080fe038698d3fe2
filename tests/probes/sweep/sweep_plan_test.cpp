// SPDX-License-Identifier: MIT
// The axes of a sweep, its controls, and its estimated cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/base/error.h"
#include "core/run/shared_prefix.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/plan_texts.h"
#include "probes/sweep/sweep_cost.h"
#include "probes/sweep/sweep_grid.h"
#include "probes/sweep/sweep_plan.h"
#include "tests/core/support/error_message.h"
#include "tests/probes/support/open_model.h"

namespace midscope {
namespace {

using ::midscope::test::ErrorMessage;
using ::testing::ElementsAre;
using testing::EmbeddedModel;
using ::testing::HasSubstr;

TEST(SweepGrid, CrossesModelsTasksSizesAndSeedsInThatOrder) {
  const std::vector<SweepCell> cells =
      SweepCells({"a.gguf", "b.gguf"}, {"list:lines={size}", "text"}, {10, 20}, {1, 2});
  ASSERT_EQ(cells.size(), 2u * 3u * 2u);
  EXPECT_EQ(cells[0], (SweepCell{"a.gguf", "list:lines=10", 1}));
  EXPECT_EQ(cells[1], (SweepCell{"a.gguf", "list:lines=10", 2}));
  EXPECT_EQ(cells[2], (SweepCell{"a.gguf", "list:lines=20", 1}));
  EXPECT_EQ(cells[4], (SweepCell{"a.gguf", "text", 1}));
  EXPECT_EQ(cells[6].model, "b.gguf");
}

TEST(SweepGrid, RefusesWhatCannotBeMeant) {
  EXPECT_THAT(ErrorMessage([] { SweepCells({"m"}, {"list:lines={size}"}, {}, {1}); }),
              HasSubstr("--size"));
  EXPECT_THAT(ErrorMessage([] { SweepCells({"m"}, {"list"}, {10}, {1}); }), HasSubstr("{size}"));
  EXPECT_THAT(ErrorMessage([] {
                SweepCells({"m"}, {"list", "list"}, {}, {1});
              }),
              HasSubstr("twice"));
}

TEST(SweepGrid, FilesHaveNamesOfTheirOwnWithoutFolders) {
  const std::vector<std::string> names =
      CellFileNames({{"/models/a.gguf", "kv:pairs=10", 1},
                     {"/other/a.gguf", "kv:pairs=10", 1},
                     {"org/name", "mdqa:file=/data/x y.jsonl", 3}});
  EXPECT_THAT(names, ElementsAre("a_kv-pairs=10_seed1.h5", "a_kv-pairs=10_2_seed1.h5",
                                 "name_mdqa-x-y_seed3.h5"));
}

TEST(SweepControls, AreTheSameChangeElsewhere) {
  const ModelConfig& config = EmbeddedModel()->config();
  const std::vector<SweepSetting> settings = {
      ReadSetting("none"), ReadSetting("channel([100,215], factor=[-1,0.5], layers=8-25)"),
      ReadSetting("pi(1.5)")};
  const std::vector<SweepSetting> controls = ControlSettings(settings, config, 7);
  ASSERT_EQ(controls.size(), 1u);
  EXPECT_EQ(controls[0].control_of, settings[1].text);
  const auto channels = controls[0].intervention.All<ChannelScaling>();
  ASSERT_EQ(channels.size(), 2u);
  EXPECT_NE(channels[0].channel, 100);
  EXPECT_NE(channels[0].channel, channels[1].channel);
  EXPECT_LT(channels[1].channel, config.hidden);
  EXPECT_EQ(channels[0].factor, -1);
  EXPECT_EQ(channels[1].factor, 0.5);
  EXPECT_EQ(channels[1].layers.Text(), "8-25");
  // The text defines the setting completely.
  EXPECT_EQ(ReadSetting(controls[0].text).intervention, controls[0].intervention);
  EXPECT_EQ(ControlSettings(settings, config, 7)[0].text, controls[0].text);
  EXPECT_NE(ControlSettings(settings, config, 8)[0].text, controls[0].text);
}

TEST(SweepControls, OrderHeadsAtRandomWhereTheyWereOrderedByScore) {
  const ModelConfig& config = EmbeddedModel()->config();
  const std::vector<SweepSetting> settings = {ReadSetting("ms-poe(min=1.2, max=1.6)")};
  const std::vector<SweepSetting> controls = ControlSettings(settings, config, 7);
  ASSERT_EQ(controls.size(), 1u);
  const auto& order = *controls[0].intervention.Find<MsPoe>();
  EXPECT_EQ(order.order, MsPoeOrder::kRandom);
  EXPECT_EQ(order.max, 1.6);
  EXPECT_EQ(ReadSetting(controls[0].text).intervention, controls[0].intervention);
}

TEST(SweepControls, GiveTheRatiosOfAFileToOtherHeads) {
  const ModelConfig& config = EmbeddedModel()->config();
  const std::string folder = ::testing::TempDir();
  const auto write = [&](const char* name, bool equal) {
    std::ofstream file(folder + name);
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      for (int64_t head = 0; head < config.heads; ++head) {
        file << layer << ',' << head << ',' << (equal || layer == 0 ? 1.5 : 1 + 0.1 * head) << '\n';
      }
    }
    return "ratios(\"" + folder + name + "\")";
  };
  const std::vector<SweepSetting> settings = {ReadSetting("none"),
                                              ReadSetting(write("control.csv", false)),
                                              ReadSetting(write("equal.csv", true))};
  const std::vector<SweepSetting> controls = ControlSettings(settings, config, 7);
  ASSERT_EQ(controls.size(), 1u) << "where all heads have one ratio there is no other order";
  EXPECT_EQ(controls[0].control_of, settings[1].text);
  std::vector<SweepSetting> all = settings;
  all.insert(all.end(), controls.begin(), controls.end());
  EXPECT_THAT(SettingsWithoutControl(all), ElementsAre(settings[2].text));
  const auto& before = settings[1].intervention.Find<HeadRatioTable>()->ratios;
  const auto& after = controls[0].intervention.Find<HeadRatioTable>()->ratios;
  EXPECT_NE(before, after);
  int64_t moved = 0;
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    std::vector<double> were;
    std::vector<double> are;
    for (int64_t head = 0; head < config.heads; ++head) {
      const auto index = static_cast<size_t>(layer * config.heads + head);
      were.push_back(before[index]);
      are.push_back(after[index]);
    }
    EXPECT_THAT(are, ::testing::UnorderedElementsAreArray(were)) << layer;
    if (are != were) ++moved;
  }
  EXPECT_GT(moved, config.layers - 3) << "layers have orders of their own";
  // The text defines the setting completely, and shows whether the file has changed.
  EXPECT_THAT(controls[0].text, HasSubstr("shuffle="));
  EXPECT_EQ(ReadSetting(controls[0].text).intervention, controls[0].intervention);
  EXPECT_NE(ControlSettings(settings, config, 8)[0].text, controls[0].text);
  write("control.csv", true);
  EXPECT_THAT(ErrorMessage([&] { ReadSetting(controls[0].text); }), HasSubstr("others now"));
}

TEST(SweepCost, CountsWhatIsNotTakenFromAnotherSettingsRun) {
  const auto decoder = EmbeddedModel();
  const auto task = MakeTaskFor(decoder->tokenizer(), "list:lines=10", 1);
  SweepPlan plan;
  plan.places = {1, 10};
  plan.settings = {ReadSetting("none"), ReadSetting("channel(100, factor=-1, layers=8-25)"),
                   ReadSetting("pi(1.5)")};
  const auto questions = TaskQuestions(decoder->tokenizer(), *task, plan.places, 0);
  const SampleCost kept = CostOfSample(plan, questions, decoder->config(), true);
  const SampleCost whole = CostOfSample(plan, questions, decoder->config(), false);
  EXPECT_EQ(kept.prompts, 2);
  EXPECT_EQ(kept.runs, 6);
  EXPECT_DOUBLE_EQ(whole.work_tokens, 3 * whole.prompt_tokens);
  // `none` and pi are run in full, for the channel only the last rows.
  EXPECT_GT(kept.work_tokens, 2 * kept.prompt_tokens);
  EXPECT_LT(kept.work_tokens, 2.1 * kept.prompt_tokens);
  plan.score.generation = true;
  const SampleCost both = CostOfSample(plan, questions, decoder->config(), true);
  EXPECT_DOUBLE_EQ(both.generated_tokens, 6 * 10);
  // Generation also runs the prompt for `none` and for pi, and the last row for the channel.
  const double prompts = both.work_tokens - kept.work_tokens;
  EXPECT_DOUBLE_EQ(both.TokensOfWork(7) - both.work_tokens, 60 * 7);
  EXPECT_GT(prompts, 2 * kept.prompt_tokens);
  EXPECT_LT(prompts, 2.1 * kept.prompt_tokens);
}

TEST(SweepCost, WhatPlacesHaveInCommonIsRunOnceASetting) {
  const auto decoder = EmbeddedModel();
  const auto task = MakeTaskFor(decoder->tokenizer(), "list:lines=10", 1);
  SweepPlan plan;
  plan.places = {5, 10};
  plan.settings = {ReadSetting("none"), ReadSetting("pi(1.5)"),
                   ReadSetting("ms-poe(first_layer=0)")};
  const auto questions = TaskQuestions(decoder->tokenizer(), *task, plan.places, 0);
  const std::vector<int32_t>& a = questions[0].prompt.ids;
  const std::vector<int32_t>& b = questions[1].prompt.ids;
  const auto common = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  ASSERT_GE(common, kFewestSharedRows);
  const SampleCost cost = CostOfSample(plan, questions, decoder->config(), true);
  // The order of heads in Ms-PoE depends on the last row, so prompts share no work.
  EXPECT_NEAR(cost.work_tokens, 3 * cost.prompt_tokens - 2 * static_cast<double>(common), 1e-6);
}

TEST(SweepCost, SchedulesSamplesOnWhicheverRankIsFree) {
  EXPECT_DOUBLE_EQ(PlanSchedule({{10, 2, 1}}, 1).seconds, 21);
  const Schedule four = PlanSchedule({{10, 2, 1}}, 4);
  EXPECT_DOUBLE_EQ(four.seconds, 7);  // the busiest rank has three samples
  EXPECT_DOUBLE_EQ(four.busy, 20.0 / 28);
  EXPECT_EQ(four.most_samples, 3);
  EXPECT_EQ(four.fewest_samples, 2);
  EXPECT_DOUBLE_EQ(four.sample_seconds, 20);
  EXPECT_DOUBLE_EQ(four.open_seconds, 4) << "every rank opens the model";
  // Ranks wait for each other at the end of a cell.
  EXPECT_DOUBLE_EQ(PlanSchedule({{2, 1, 0}, {2, 3, 0}}, 64).seconds, 4);
  EXPECT_DOUBLE_EQ(PlanSchedule({{2, 1, 5, 0}, {2, 3, 5, 0}, {2, 1, 7, 1}}, 2).seconds, 17);
}

TEST(SweepCost, TellsHowManyRanksAreWorthTheirWhile) {
  // With 100 samples, the busiest of 50 to 99 ranks has two.
  EXPECT_EQ(FewestRanks({{100, 2, 0}}, 64, 0), 50);
  EXPECT_EQ(FewestRanks({{100, 2, 0}}, 1000, 0), 100);
  EXPECT_EQ(FewestRanks({{100, 2, 0}}, 1, 0), 1);
  EXPECT_EQ(MostBusyRanks({{100, 2, 0}}, 64, 0.9), 55);
  EXPECT_GE(PlanSchedule({{100, 2, 0}}, 55).busy, 0.9);
  EXPECT_LT(PlanSchedule({{100, 2, 0}}, 56).busy, 0.9);
  // Opening the model takes longer than the samples.
  EXPECT_EQ(MostBusyRanks({{4, 1, 100}}, 64, 0.9), 1);
}

}  // namespace
}  // namespace midscope
