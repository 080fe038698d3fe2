// SPDX-License-Identifier: MIT
// Prompts longer than a model, or one of its settings, accepts: they are rejected, fail alone, or
// are run and marked.
#include "probes/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "data/store/record_reader.h"
#include "probes/sweep/sweep_context.h"
#include "tests/paths.h"
#include "tests/probes/support/sweep_fixture.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Prompts of arbitrary tokens for a model that is trained on 128.
class ContextTest : public SweepTest {
 protected:
  static std::shared_ptr<const Decoder> Tiny(const std::string& name, bool beyond_context = false) {
    DecoderOptions options;
    options.beyond_context = beyond_context;
    return Decoder::Open(std::string(MIDSCOPE_TESTS "/core/golden/tiny_models"
                                                    "/") +
                             name,
                         options);
  }

  static TaskQuestion Question(int64_t tokens) {
    TaskQuestion question;
    for (int64_t i = 0; i < tokens; ++i)
      question.prompt.ids.push_back(static_cast<int32_t>(i * 37 % 250));
    question.prompt.answer_ids = {5, 6, 7};
    question.sample.answers = {"an answer"};
    question.sample.generation.new_tokens = 20;
    return question;
  }

  static Record Run(const std::shared_ptr<const Decoder>& decoder, int64_t tokens,
                    const std::vector<std::string>& settings, ScoreArms score) {
    SampleRequest request;
    request.questions = {Question(tokens)};
    request.places = {1};
    for (const std::string& text : settings) request.settings.push_back(ReadSetting(text));
    request.score = score;
    return RunSample(decoder, request, {});
  }

  static std::string Refusal(const std::shared_ptr<const Decoder>& decoder, int64_t tokens,
                             const std::vector<std::string>& settings, ScoreArms score) {
    try {
      Run(decoder, tokens, settings, score);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  // Samples 0, 1, 2; `none` cannot run the second.
  SweepRun MixedRun() {
    SweepRun run;
    run.decoder = Tiny("llama");
    run.plan.task = "made up";
    run.plan.samples = 3;
    run.plan.places = {1, 2};
    for (const char* text : {"none", kFar}) run.plan.settings.push_back(ReadSetting(text));
    run.questions = [](int64_t sample) {
      const int64_t tokens = sample == 1 ? 200 : 90 + sample;
      return std::vector<TaskQuestion>{Question(tokens), Question(tokens - 3)};
    };
    return run;
  }

  static constexpr const char* kFar = "self-extend(group=4, window=16)";
};

std::vector<std::string> Failures(const Record& record) {
  return std::get<std::vector<std::string>>(record.FindArray("setting_failure")->data);
}

TEST_F(ContextTest, ASampleThatNoSettingHoldsIsRefusedWhicheverArmNeedsTheRoom) {
  const auto decoder = Tiny("llama");
  ASSERT_EQ(decoder->config().trained_context, 128);
  const ScoreArms likelihood{true, false};
  const ScoreArms both{true, true};
  EXPECT_EQ(Refusal(decoder, 126, {"none"}, likelihood), "");
  EXPECT_THAT(Refusal(decoder, 127, {"none"}, likelihood),
              AllOf(StartsWith(kTooLong),
                    HasSubstr("127 tokens, 3 more follow; under setting none the model's"),
                    HasSubstr("holds 128")));
  EXPECT_EQ(Refusal(decoder, 109, {"none"}, both), "");
  EXPECT_THAT(Refusal(decoder, 110, {"none"}, both), HasSubstr("20 more follow"));
  const Record record = Run(decoder, 300, {kFar, "dynamic-ntk(2)"}, both);
  EXPECT_EQ(std::get<std::vector<double>>(record.FindArray("generation_score")->data).size(), 2u);
  EXPECT_EQ(record.FindArray("setting_failure"), nullptr);  // their contexts are equal
  EXPECT_THAT(
      Refusal(decoder, 300, {"pi(2)", "none"}, likelihood),
      HasSubstr("under setting pi(2) the model's context holds 256 under this position scheme"));
}

TEST_F(ContextTest, OneSettingThatDoesNotHoldThePromptFailsAlone) {
  const auto decoder = Tiny("llama");
  for (const ScoreArms score : {ScoreArms{true, false}, ScoreArms{true, true}}) {
    const Record record = Run(decoder, 150, {kFar, "none", "pi(2)"}, score);
    record.Check();
    EXPECT_THAT(Failures(record),
                ElementsAre("", AllOf(StartsWith(kTooLong), HasSubstr("150 tokens")), ""));
    const SampleOutcome outcome = ReadOutcome(0, record);
    EXPECT_TRUE(std::isnan(outcome.answer_nll[1]));
    const SampleOutcome alone = ReadOutcome(0, Run(decoder, 150, {kFar, "pi(2)"}, score));
    EXPECT_EQ(outcome.answer_nll[0], alone.answer_nll[0]);
    EXPECT_EQ(outcome.answer_nll[2], alone.answer_nll[1]);
    if (!score.generation) continue;
    EXPECT_TRUE(std::isnan(outcome.generation_score[1]));
    EXPECT_EQ(outcome.generation_score[2], alone.generation_score[1]);
  }
}

// A file's ids are for prompts of one length, and a sampler's ids may exceed the context.
TEST_F(ContextTest, ASettingWhosePositionIdsDoNotFitFailsAlone) {
  const auto decoder = Tiny("llama");
  const std::string file = ::testing::TempDir() + "/sweep_ids.txt";
  std::ofstream ids(file);
  for (int i = 0; i < 60; ++i) ids << 2 * i << "\n";
  ids.close();
  const std::string given = "positions(file=" + file + ")";
  for (const ScoreArms score : {ScoreArms{true, false}, ScoreArms{true, true}}) {
    const Record other = Run(decoder, 50,
                             {given, "none", "positions(sampler=randpos, factor=2)",
                              "positions(sampler=randpos, factor=8)", "positions(sampler=full)"},
                             score);
    EXPECT_THAT(Failures(other), ElementsAre(HasSubstr("has 60 ids, the prompt has 50 tokens"), "",
                                             "", HasSubstr("the model's context holds 128"), ""));
    const SampleOutcome outcome = ReadOutcome(0, other);
    EXPECT_TRUE(std::isnan(outcome.answer_nll[0]));
    EXPECT_NE(outcome.answer_nll[2], outcome.answer_nll[1]);
    EXPECT_EQ(outcome.answer_nll[4], outcome.answer_nll[1]);
  }
  const Record fits = Run(decoder, 60, {given, "none"}, {true, false});
  EXPECT_THAT(Failures(fits), ElementsAre("", ""));
  EXPECT_THAT(Refusal(decoder, 50, {given}, {true, false}),
              AllOf(HasSubstr("60 ids"), ::testing::Not(HasSubstr(kTooLong))));
}

TEST_F(ContextTest, TheOtherSettingsAreStoredAndResumedAndTheFileSaysWhy) {
  const SweepRun whole_run = MixedRun();
  const SweepResult whole = RunSweep(whole_run, {});
  EXPECT_TRUE(whole.failures.empty());
  EXPECT_EQ(whole.partly_failed(), 1);
  std::atomic<bool> cancel = false;
  JobContext context;
  context.cancel = &cancel;
  SweepRun run = MixedRun();
  {
    SweepStore store = Store(run);
    run.store = &store;
    run.on_sample = [&cancel](const SweepResult& so_far) { cancel = so_far.outcomes.size() == 2; };
    EXPECT_THROW(RunSweep(run, context), Cancelled);
  }
  run.on_sample = nullptr;
  SweepStore store = Store(run, true);
  EXPECT_EQ(store.finished().size(), 2u);
  run.store = &store;
  const SweepResult resumed = RunSweep(run, {});
  const std::vector<CellStatistics> cells = Summarise(run.plan, resumed);
  EXPECT_EQ(cells[0].samples, 2);
  EXPECT_EQ(cells[2].samples, 3);
  EXPECT_EQ(cells[2].answer_nll, Summarise(whole_run.plan, whole)[2].answer_nll);
  EXPECT_TRUE(std::isfinite(cells[2].difference));
  const RunReader reader(File());
  const Record why = reader.Read("setting_failures");
  EXPECT_THAT(std::get<std::vector<int64_t>>(why.FindArray("failed_sample")->data), ElementsAre(1));
  EXPECT_THAT(std::get<std::vector<std::string>>(why.FindArray("failed_setting")->data),
              ElementsAre("none"));
  EXPECT_THAT(std::get<std::vector<std::string>>(why.FindArray("failure_message")->data),
              ElementsAre(HasSubstr("200 tokens")));
}

TEST_F(ContextTest, BeyondTheContextEverySettingRunsAndIsMarked) {
  const auto decoder = Tiny("llama", /*beyond_context=*/true);
  const Record record = Run(decoder, 200, {"none", "pi(2)", kFar}, {true, true});
  EXPECT_EQ(record.FindArray("setting_failure"), nullptr);
  EXPECT_THAT(std::get<std::vector<uint8_t>>(record.FindArray("beyond_context")->data),
              ElementsAre(1, 0, 0));
  const SampleOutcome outcome = ReadOutcome(0, record);
  for (const double nll : outcome.answer_nll) EXPECT_TRUE(std::isfinite(nll));
  const Record means =
      OutcomeMeansRecord({"none", "pi(2)", kFar}, {1}, SummariseOutcomes({outcome}, 3, 1, 1));
  EXPECT_THAT(std::get<std::vector<int64_t>>(means.FindArray("beyond_context")->data),
              ElementsAre(1, 0, 0));
  // The option is in the plan, so that a resumed sweep uses it too.
  SweepPlan plan;
  EXPECT_NE(PlanJson(plan, *decoder), PlanJson(plan, *Tiny("llama")));
}

TEST_F(ContextTest, AlibiHasNoLimit) {
  const auto decoder = Tiny("mpt");
  const int64_t tokens = decoder->config().trained_context + 20;
  const Record record = Run(decoder, tokens, {"none"}, {true, true});
  EXPECT_TRUE(std::isfinite(ReadOutcome(0, record).answer_nll[0]));
  EXPECT_EQ(record.FindArray("beyond_context"), nullptr);
}

TEST(FailedSamples, ThoseThatAreTooLongAreNone) {
  SweepResult result;
  EXPECT_EQ(FailedSamplesText(result), "");
  result.failures[2] = std::string(kTooLong) + ": 127 tokens";
  EXPECT_EQ(FailedSamplesText(result), "");
  result.failures[5] = "no memory";
  EXPECT_THAT(FailedSamplesText(result), HasSubstr("1 of 2 samples failed"));
  EXPECT_THAT(FailedSamplesText(result), HasSubstr("sample 5: no memory"));
}

}  // namespace
}  // namespace midscope
