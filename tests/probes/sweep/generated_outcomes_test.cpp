// SPDX-License-Identifier: MIT
// The outcomes of generated text by setting and place: for a model made by hand that always gives
// the last piece's answer, the matrix has one nonzero column.
#include "probes/sweep/generated_outcomes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/record_names.h"
#include "probes/base/records.h"
#include "probes/sweep/sweep.h"
#include "tests/probes/support/planted_model.h"
#include "tests/probes/support/sweep_fixture.h"

namespace midscope {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
namespace planted = testing::planted;

// Two pieces, A (the gold one) and B; the model gives the nearer one's answer.
SweepRun PlantedRun() {
  SweepRun run;
  run.decoder = planted::MakeModel(4);
  run.plan.samples = 4;
  run.plan.places = {1, 2};
  run.plan.score = {false, true};
  run.plan.settings = {ReadSetting("none")};
  const Tokenizer& tokenizer = run.decoder->tokenizer();
  const std::string a = tokenizer.Decode(std::vector<int32_t>{'A'});
  const std::string b = tokenizer.Decode(std::vector<int32_t>{'B'});
  run.questions = [a, b](int64_t sample) {
    const int64_t near = planted::kTokens - 4 - sample;
    const int64_t far = 2 + sample;
    std::vector<TaskQuestion> questions(2);
    for (size_t i = 0; i < 2; ++i) {
      const bool last = i == 1;
      questions[i].prompt = planted::MakePrompt(last ? near : far, last ? far : near);
      TaskSample& made = questions[i].sample;
      made.place = last ? 2 : 1;
      made.pieces = 2;
      made.answers = {a};
      made.piece_answers = last ? std::vector{b, a} : std::vector{a, b};
      made.generation = {1, AnswerCut::kWhole, AnswerMetric::kSubstring};
    }
    return questions;
  };
  return run;
}

TEST(GeneratedOutcomes, OfAModelThatAnswersTheLastPieceTheMatrixIsAColumn) {
  const SweepRun run = PlantedRun();
  const SweepResult result = RunSweep(run, {});
  const GeneratedOutcomes outcomes = GeneratedOutcomesOf(run.plan, result.outcomes);
  EXPECT_THAT(outcomes.answered_places, ElementsAre(1, 2));
  ASSERT_EQ(outcomes.cells.size(), 2u);
  EXPECT_THAT(outcomes.cells[0].answered, ElementsAre(0, 1));
  EXPECT_THAT(outcomes.cells[1].answered, ElementsAre(0, 1));
  EXPECT_EQ(outcomes.cells[0].right, 0);
  EXPECT_EQ(outcomes.cells[0].another, 1);
  EXPECT_EQ(outcomes.cells[1].right, 1);
  EXPECT_EQ(outcomes.cells[1].another, 0);
  EXPECT_EQ(outcomes.cells[1].cut, 1);  // cut by the limit of one token, which every text reaches
  EXPECT_EQ(outcomes.cells[1].empty, 0);
  const Record record = GeneratedOutcomesRecord(run.plan, outcomes);
  record.Check();
  EXPECT_THAT(ArrayValues<double>(record, kAnsweredPlace), ElementsAre(0, 1, 0, 1));
}

// If a task counts its places from 0, answered places are counted from 0 too.
TEST(GeneratedOutcomes, PlacesAreCountedAsTheTaskCountsThem) {
  SweepRun run = PlantedRun();
  run.plan.places = {0, 1};
  const SweepResult result = RunSweep(run, {});
  EXPECT_THAT(result.outcomes[0].answered_place, ElementsAre(1, 1));
  EXPECT_THAT(GeneratedOutcomesOf(run.plan, result.outcomes).answered_places, ElementsAre(0, 1));
}

SampleOutcome Outcome(std::vector<int64_t> answered) {
  SampleOutcome outcome;
  const size_t cells = answered.size();
  outcome.generation_score.resize(cells);
  outcome.generation_cut.resize(cells);
  outcome.generation_empty.resize(cells);
  outcome.answered_place = std::move(answered);
  outcome.first_piece_place = {1, 1};
  outcome.last_piece_place = {3, 3};
  return outcome;
}

TEST(GeneratedOutcomes, AreSharesOfTheSamplesThatRan) {
  SweepPlan plan;
  plan.places = {1, 3};
  plan.settings = {ReadSetting("none"), ReadSetting("pi(2)")};
  SampleOutcome first = Outcome({1, 2, 3, kNoPlace});
  first.generation_score = {1, 0.5, 0, 0};
  first.generation_cut = {1, 0, 0, 0};
  SampleOutcome second = Outcome({2, kNoPlace, kNoPlace, kNoPlace});
  second.generation_empty = {0, 1, 0, 0};
  second.failures = {"", "too long"};
  const GeneratedOutcomes outcomes = GeneratedOutcomesOf(plan, {first, second});
  ASSERT_EQ(outcomes.cells.size(), 4u);
  const GeneratedCell& cell = outcomes.cells[0];
  EXPECT_EQ(cell.samples, 2);
  EXPECT_EQ(cell.right, 0.5);
  EXPECT_EQ(cell.cut, 0.5);
  EXPECT_EQ(cell.another, 0.5);
  EXPECT_EQ(cell.none, 0);
  EXPECT_THAT(cell.answered, ElementsAre(0.5, 0.5, 0));
  EXPECT_EQ(outcomes.cells[1].right, 0);  // a score of one half is not right
  EXPECT_EQ(outcomes.cells[1].empty, 0.5);
  EXPECT_EQ(outcomes.cells[1].none, 0.5);
  EXPECT_EQ(outcomes.cells[2].samples, 1);
  EXPECT_EQ(outcomes.cells[2].another, 1);
  EXPECT_THAT(outcomes.cells[2].answered, ElementsAre(0, 0, 1));
  EXPECT_EQ(outcomes.cells[3].none, 1);
}

TEST(GeneratedOutcomes, AreNoneOfASweepThatGeneratesNothing) {
  SweepPlan plan;
  plan.places = {1};
  plan.settings = {ReadSetting("none")};
  SampleOutcome outcome;
  outcome.answer_nll = {1};
  EXPECT_TRUE(GeneratedOutcomesOf(plan, {outcome}).cells.empty());
}

class GeneratedSweepTest : public SweepTest {};

// The matrix for the list task agrees with the stored scores and texts; every setting has times.
TEST_F(GeneratedSweepTest, OfARealSweepAgreesWithItsTexts) {
  SweepRun run = MakeRun({"none", kFlip}, 3);
  run.plan.score = {true, true};
  SweepStore store = Store(run);
  run.store = &store;
  const SweepResult result = RunSweep(run, {});
  const RunReader reader(File());
  const Record record = reader.Read("sweep");
  const auto& answered = ArrayValues<int64_t>(record, kAnsweredPlace);
  const auto& scores = ArrayValues<double>(record, "generation_score");
  for (size_t i = 0; i < answered.size(); ++i) {
    EXPECT_EQ(answered[i] == run.plan.places[i % 2], scores[i] >= 1) << i;
  }
  EXPECT_THAT(ArrayValues<int64_t>(record, kLastPiecePlace), Each(4));
  const Record shares = reader.Read(kGeneratedOutcomes);
  EXPECT_EQ(ArrayValues<double>(shares, kAnsweredPlace).size(), 2u * 2u * 4u);
  const auto& seconds = ArrayValues<double>(record, kSettingSeconds);
  ASSERT_EQ(seconds.size(), 3u * 2u);
  EXPECT_THAT(seconds, Each(::testing::Gt(0)));
  const auto means = ArrayValues<double>(reader.Read(kOutcomeMeans), kSettingSeconds);
  EXPECT_NEAR(means[1], (seconds[1] + seconds[3] + seconds[5]) / 3, 1e-9);
  EXPECT_EQ(MeanSettingSeconds(result.outcomes, 2), means);
  const auto worst =
      ArrayValues<int64_t>(reader.Read("setting_statistics"), "answer_nll_worst_place");
  EXPECT_EQ(worst.size(), 2u);
}

}  // namespace
}  // namespace midscope
