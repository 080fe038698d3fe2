// SPDX-License-Identifier: MIT
// Contracts: choices of several tokens are compared by the likelihood of the complete choice, which
// equals that of a separate run within rounding, also after separate prompts; samples may have
// different numbers of choices, also in the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/record_names.h"
#include "core/run/what_if.h"
#include "probes/sweep/likelihood_prompts.h"
#include "probes/sweep/sweep.h"
#include "probes/sweep/sweep_sample.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/probes/support/open_model.h"
#include "tests/probes/support/sweep_fixture.h"

namespace midscope {
namespace {

using testing::EmbeddedModel;

constexpr double kRounding = 1e-3;  // in nats, between packed and single runs in float32

class SweepChoicesTest : public SweepTest {
 protected:
  SweepRun MakeChoices(const std::string& spec, const std::string& lines,
                       const std::vector<std::string>& settings, int64_t samples) {
    lines_.Write("lines.jsonl", lines);
    SweepRun run = MakeRun(settings, samples);
    task_ = MakeTaskFor(run.decoder->tokenizer(),
                        spec + "file=" + (lines_.path() / "lines.jsonl").string(), 1);
    run.plan.places = {1};
    run.plan.task = task_->name();
    run.questions = [this](int64_t sample) {
      return TaskQuestions(EmbeddedModel()->tokenizer(), *task_, {1}, sample);
    };
    return run;
  }

  test::TemporaryFolder lines_;
};

std::vector<double> Numbers(const Record& record, const std::string& name) {
  const Array* array = record.FindArray(name);
  return array ? std::get<std::vector<double>>(array->data) : std::vector<double>();
}

Record Outcome(const SweepRun& run, int64_t sample) {
  SampleRequest request;
  request.questions = run.questions(sample);
  request.places = run.plan.places;
  request.settings = run.plan.settings;
  request.score = run.plan.score;
  return RunSample(run.decoder, request, {});
}

constexpr const char* kGaps =
    R"({"sentence": "Ann, who hurt Sue, said sorry to _ at once.", "option1": "Ann", "option2": "Sue",)"
    R"( "answer": "2"})"
    "\n";

constexpr const char* kSolutions =
    R"({"goal": "To open a jar,", "sol1": "turn the lid to the left with your hand.",)"
    R"( "sol2": "jar.", "label": 0})"
    "\n"
    R"({"goal": "To cool soup,", "sol1": "heat it up again.", "sol2": "wait a while.", "label": 1})"
    "\n";

TEST_F(SweepChoicesTest, EachHasTheLikelihoodOfARunOfItsOwn) {
  for (const auto& [spec, lines] :
       {std::pair("choices:dataset=winogrande,", kGaps), {"choices:dataset=piqa,", kSolutions}}) {
    const SweepRun run = MakeChoices(spec, lines, {"none", kFlip}, 1);
    EXPECT_TRUE(run.questions(0)[0].choice_prompts[0].FindSpan("question"));
    const Record record = Outcome(run, 0);
    const std::vector<TaskQuestion> questions = run.questions(0);
    const std::vector<Prompt>& prompts = questions[0].choice_prompts;
    ASSERT_EQ(prompts.size(), 2u);
    const std::vector<double> nll = Numbers(record, kChoiceNll);
    ASSERT_EQ(nll.size(), 4u);
    for (size_t setting = 0; setting < 2; ++setting) {
      for (size_t i = 0; i < 2; ++i) {
        const WhatIfResult alone =
            WhatIf(run.decoder, {prompts[i]})
                .Evaluate(run.plan.settings[setting].intervention, {}, false);
        EXPECT_GT(prompts[i].answer_ids.size(), 1u);
        EXPECT_NEAR(nll[setting * 2 + i], alone.outcomes[0].score.nll, kRounding) << spec << i;
      }
    }
    // The answer is the correct choice.
    const size_t right = questions[0].sample.choices[0].right ? 0 : 1;
    EXPECT_NEAR(Numbers(record, kAnswerNll)[0], nll[right], kRounding);
    const auto& correct = std::get<std::vector<uint8_t>>(record.FindArray(kChoiceCorrect)->data);
    EXPECT_EQ(correct[0] == 1, nll[right] < nll[1 - right]);
    EXPECT_EQ(std::get<std::vector<uint8_t>>(record.FindArray(kChoiceRight)->data)[right], 1);
  }
}

// The first solution is long, so it loses by the sum and wins per character.
TEST_F(SweepChoicesTest, TheRuleDecides) {
  const auto correct = [&](const std::string& rule) {
    const SweepRun run =
        MakeChoices("choices:dataset=piqa,rule=" + rule + ",", kSolutions, {"none"}, 1);
    return RunSweep(run, {}).outcomes[0].choice_correct.at(0);
  };
  EXPECT_EQ(correct("likeliest"), 0);
  EXPECT_EQ(correct("per-character"), 1);
  const SweepRun run =
      MakeChoices("choices:dataset=piqa,rule=right-share,", kSolutions, {"none"}, 2);
  const SweepResult result = RunSweep(run, {});
  const std::vector<double> nll = Numbers(Outcome(run, 0), kChoiceNll);
  EXPECT_TRUE(result.outcomes[0].choice_correct.empty());
  EXPECT_NEAR(result.outcomes[0].right_share.at(0), 1 / (1 + std::exp(nll[0] - nll[1])), 1e-6);
  const CellStatistics cell = Summarise(run.plan, result).at(0);
  EXPECT_NEAR(cell.right_share,
              (result.outcomes[0].right_share[0] + result.outcomes[1].right_share[0]) / 2, 1e-12);
}

constexpr const char* kDifferentNumbers =
    R"({"question": "Which is a colour?", "answers": ["dark green"], "choices": ["dark green", "a mill"]})"
    "\n"
    R"({"question": "Which is a tool?", "answers": ["a hammer"],)"
    R"( "choices": ["an idea", "a hammer", "blue sky"]})"
    "\n"
    R"({"question": "One of A and B?", "answers": ["A"], "choices": ["A", "B"]})"
    "\n";

TEST_F(SweepChoicesTest, SamplesMayDifferInTheirNumber) {
  const SweepRun plain = MakeChoices("jsonl:", kDifferentNumbers, {"none", kFlip}, 3);
  const SweepResult memory = RunSweep(plain, {});
  {
    SweepRun run = plain;
    run.plan.samples = 2;
    SweepStore store = Store(plain);
    run.store = &store;
    RunSweep(run, {});
  }
  SweepStore store = Store(plain, /*resume=*/true);
  SweepRun run = plain;
  run.store = &store;
  const SweepResult stored = RunSweep(run, {});
  ASSERT_EQ(stored.outcomes.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(stored.outcomes[i].choice_correct, memory.outcomes[i].choice_correct);
    const Record kept = store.ReadSample(static_cast<int64_t>(i), [](const auto&) { return true; });
    EXPECT_EQ(Numbers(kept, kChoiceNll),
              Numbers(Outcome(plain, static_cast<int64_t>(i)), kChoiceNll));
  }
  EXPECT_EQ(Numbers(store.ReadSample(1, [](const auto&) { return true; }), kChoiceNll).size(), 6u);
}

}  // namespace
}  // namespace midscope
