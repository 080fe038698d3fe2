// SPDX-License-Identifier: MIT
// The paired sweep within this process: order, failures, cancellation, resumption.
#include "probes/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/decoder/captures.h"
#include "core/run/generate.h"
#include "core/run/scoring.h"
#include "core/run/what_if.h"
#include "data/store/record_reader.h"
#include "probes/model/provenance.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/sweep_context.h"
#include "tests/paths.h"
#include "tests/probes/support/open_model.h"
#include "tests/probes/support/sweep_fixture.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using testing::EmbeddedModel;
using ::testing::HasSubstr;

TEST_F(SweepTest, SettingsAreEvaluatedInOneOrderWhateverOrderTheyAreGivenIn) {
  const SweepResult one = RunSweep(MakeRun({"none", kFlip, kMsPoe}), {});
  const SweepResult two = RunSweep(MakeRun({kMsPoe, "none", kFlip}), {});
  ASSERT_EQ(one.outcomes.size(), 2u);
  for (size_t sample = 0; sample < 2; ++sample) {
    const std::vector<double>& a = one.outcomes[sample].answer_nll;
    const std::vector<double>& b = two.outcomes[sample].answer_nll;
    EXPECT_THAT(b, ElementsAre(a[4], a[5], a[0], a[1], a[2], a[3]));
    EXPECT_NE(a[0], a[2]);
    EXPECT_NE(a[0], a[4]);
  }
}

// The gold line is another passage at each place. If it is already first, moving it to the
// beginning changes nothing; if it is last, moving it to the end.
TEST_F(SweepTest, PassagesAreThoseOfEachPrompt) {
  const SweepResult result =
      RunSweep(MakeRun({"none", "move(span=gold, to=begin)", "move(span=\"line 4\", to=end)",
                        "move(span=gold, to=end)", "crop(span=gold, layers=0-7)"},
                       1),
               {});
  const std::vector<double>& nll = result.outcomes[0].answer_nll;
  EXPECT_NEAR(nll[2], nll[0], 1e-4);
  EXPECT_GT(std::abs(nll[3] - nll[1]), 1e-3);
  EXPECT_NEAR(nll[4], nll[0], 1e-4);
  EXPECT_NEAR(nll[5], nll[1], 1e-4);
  EXPECT_GT(std::abs(nll[6] - nll[0]), 1e-3);
  EXPECT_NEAR(nll[7], nll[1], 1e-4);
  EXPECT_GT(std::abs(nll[9] - nll[1]), 1e-3);
  EXPECT_THROW(RunSweep(MakeRun({"boost(span=silver)"}, 1), {}), Error);
}

TEST_F(SweepTest, EachOutcomeIsThatOfARunOnItsOwn) {
  const SweepRun run = MakeRun({"none", kFlip, kMsPoe}, 1);
  const SweepResult result = RunSweep(run, {});
  const std::vector<TaskQuestion> questions = run.questions(0);
  for (size_t setting = 0; setting < 3; ++setting) {
    for (size_t place = 0; place < 2; ++place) {
      const Prompt& prompt = questions[place].prompt;
      const std::vector<int32_t> ids = IdsToScore(prompt.ids, prompt.answer_ids);
      RunRequest request;
      request.ids = ids;
      request.prompt_tokens = static_cast<int64_t>(prompt.ids.size());
      request.intervention = run.plan.settings[setting].intervention;
      const AnswerScore score =
          ScoreAnswer(run.decoder->RunOne(request), request.prompt_tokens, prompt.answer_ids);
      EXPECT_NEAR(result.outcomes[0].answer_nll[setting * 2 + place], score.nll, 1e-3);
    }
  }
}

TEST_F(SweepTest, AFailedSampleIsNotedAndTheOthersGoOn) {
  SweepRun run = MakeRun({"none"}, 3);
  SweepStore store = Store(run);
  run.store = &store;
  const QuestionSource good = run.questions;
  run.questions = [&good](int64_t sample) {
    if (sample == 1) throw Failure("sample", "is missing");
    return good(sample);
  };
  const SweepResult result = RunSweep(run, {});
  EXPECT_EQ(result.outcomes.size(), 2u);
  EXPECT_THAT(result.failures.at(1), HasSubstr("is missing"));
  EXPECT_THAT(store.failed(), ElementsAre(1));
  EXPECT_THAT(store.finished(), ElementsAre(0, 2));
}

TEST_F(SweepTest, IsAnErrorWhereEverySampleFails) {
  SweepRun run = MakeRun({"none"}, 2);
  run.questions = [](int64_t) -> std::vector<TaskQuestion> {
    throw Failure("sample", "is missing");
  };
  try {
    RunSweep(run, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is missing"));
  }
}

TEST_F(SweepTest, CancelledLeavesAFileThatResumingCompletesWithTheSameBits) {
  const SweepRun whole_run = MakeRun({"none", kFlip}, 4);
  const SweepResult whole = RunSweep(whole_run, {});

  std::atomic<bool> cancel = false;
  JobContext context;
  context.cancel = &cancel;
  SweepRun run = MakeRun({"none", kFlip}, 4);
  run.plan.attention = false;
  {
    SweepStore store = Store(run);
    run.store = &store;
    run.on_sample = [&cancel](const SweepResult& so_far) { cancel = so_far.outcomes.size() == 2; };
    EXPECT_THROW(RunSweep(run, context), Cancelled);
  }
  RunReader after_cancel(File());
  EXPECT_EQ(after_cancel.Describe("sweep").FindAxis("sample")->size, 2);

  run.on_sample = nullptr;
  SweepStore store = Store(run, true);
  run.store = &store;
  const SweepResult resumed = RunSweep(run, {});
  ASSERT_EQ(resumed.outcomes.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(resumed.outcomes[i].sample, whole.outcomes[i].sample);
    EXPECT_EQ(resumed.outcomes[i].answer_nll, whole.outcomes[i].answer_nll);
    EXPECT_EQ(resumed.outcomes[i].correct, whole.outcomes[i].correct);
  }
  EXPECT_EQ(MeansRecord(run.plan, resumed).FindArray("answer_nll")->data,
            MeansRecord(run.plan, whole).FindArray("answer_nll")->data);
}

TEST_F(SweepTest, GeneratedTextIsScoredByTheTasksOwnScorer) {
  SweepRun run = MakeRun({"none", kFlip}, 2);
  run.plan.score = {true, true};
  const SweepResult both = RunSweep(run, {});
  run.plan.score = {false, true};
  const SweepResult alone = RunSweep(run, {});
  ASSERT_EQ(both.outcomes.size(), 2u);
  for (size_t sample = 0; sample < 2; ++sample) {
    EXPECT_EQ(both.outcomes[sample].generation_score, alone.outcomes[sample].generation_score);
    EXPECT_TRUE(alone.outcomes[sample].answer_nll.empty());
    // The list's answer is one token; if it is the most likely one, it is generated.
    for (size_t cell = 0; cell < 4; ++cell) {
      if (both.outcomes[sample].correct[cell]) {
        EXPECT_EQ(both.outcomes[sample].generation_score[cell], 1);
      }
    }
  }
}

TEST_F(SweepTest, GeneratedTextIsThatOfGenerationOnItsOwn) {
  SweepRun run = MakeRun({kFlip}, 1);
  run.plan.score = {false, true};
  const std::vector<TaskQuestion> questions = run.questions(0);
  const Record record = RunSample(
      run.decoder,
      {questions, run.plan.places, run.plan.settings, run.plan.score, false, kTraceMemoryBytes},
      {});
  const auto& texts = std::get<std::vector<std::string>>(record.FindArray("generated_text")->data);
  GenerateOptions options;
  options.new_tokens = questions[1].sample.generation.new_tokens;
  const Generated whole = Generate(*run.decoder, questions[1].prompt.ids,
                                   run.plan.settings[0].intervention, options, {});
  // The sweep stops when the first line is complete.
  EXPECT_TRUE(whole.text.starts_with(texts[1])) << whole.text << " / " << texts[1];
  EXPECT_EQ(ScoreGenerated(questions[1].sample, whole.text),
            ScoreGenerated(questions[1].sample, texts[1]));
}

TEST_F(SweepTest, PromptsThatAreTooLongAreCountedNotCut) {
  SweepRun run = MakeRun({"none"}, 3);
  const QuestionSource good = run.questions;
  run.questions = [&good](int64_t sample) {
    std::vector<TaskQuestion> questions = good(sample);
    if (sample == 1) questions.back().prompt.ids.resize(20000, 5);
    return questions;
  };
  const SweepResult result = RunSweep(run, {});
  EXPECT_EQ(result.outcomes.size(), 2u);
  EXPECT_EQ(result.too_long(), 1);
  EXPECT_THAT(result.failures.at(1), HasSubstr("20000 tokens"));
  EXPECT_EQ(std::get<int64_t>(MeansRecord(run.plan, result).attributes.at("too_long_samples")), 1);
}

TEST_F(SweepTest, ChoicesAreComparedByLikelihood) {
  SweepRun run = MakeRun({"none"}, 1);
  const QuestionSource good = run.questions;
  bool right_is_likelier = true;
  run.questions = [&](int64_t sample) {
    std::vector<TaskQuestion> questions = good(sample);
    // With the token itself as the alternative, none is more likely; with the first guess, the
    // answer is not.
    for (TaskQuestion& question : questions) {
      const int32_t answer = question.prompt.answer_ids.front();
      question.choice_ids = {answer};
      question.sample.choices = {{"right", true}};
      if (right_is_likelier) continue;
      const WhatIfResult result = WhatIf(run.decoder, {question.prompt}).Evaluate({}, {}, false);
      question.choice_ids.push_back(TopTokens(result.outcomes[0].last_logits, 1)[0].id);
      question.sample.choices.push_back({"likeliest", question.choice_ids[1] == answer});
    }
    return questions;
  };
  EXPECT_THAT(RunSweep(run, {}).outcomes[0].choice_correct, ElementsAre(1, 1));
  right_is_likelier = false;
  const SampleOutcome outcome = RunSweep(run, {}).outcomes[0];
  // One token: both mean "the most likely of all".
  EXPECT_EQ(outcome.choice_correct, outcome.correct);
}

TEST_F(SweepTest, SamplesAddedLaterAreThoseOfALargerSweep) {
  const SweepResult whole = RunSweep(MakeRun({"none", kFlip}, 4), {});
  SweepRun run = MakeRun({"none", kFlip}, 2);
  const auto store_of = [&](bool resume) {
    SweepStoreOptions options;
    options.resume = resume;
    options.growing = "samples";
    return SweepStore::Create(File(), PlanJson(run.plan, *run.decoder),
                              MakeProvenance(*run.decoder, "test", 1, "{}"), options);
  };
  {
    SweepStore store = store_of(false);
    run.store = &store;
    RunSweep(run, {});
  }
  run.plan.samples = 4;
  {
    SweepStore store = store_of(true);
    EXPECT_EQ(store.finished().size(), 2u);
    run.store = &store;
    const SweepResult grown = RunSweep(run, {});
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(grown.outcomes[i].answer_nll, whole.outcomes[i].answer_nll);
    }
  }
  run.plan.samples = 3;  // a sweep cannot shrink
  EXPECT_THROW(store_of(true), Error);
  run.plan.samples = 4;
  run.plan.seed = 2;
  EXPECT_THROW(store_of(true), Error);
}

TEST_F(SweepTest, KeepsAttentionOfTheFirstSettingAtTheFirstPlaceWhenAsked) {
  SweepRun run = MakeRun({kFlip, "none"}, 2);
  run.plan.attention = true;
  SweepStore store = Store(run);
  run.store = &store;
  RunSweep(run, {});
  const RunReader reader(File());
  const Array attention = reader.ReadArray("sweep", "last_query_attention");
  EXPECT_EQ(attention.axes, (std::vector<std::string>{"sample", "layer", "head", "key"}));
  const auto counts = std::get<std::vector<int64_t>>(reader.ReadArray("sweep", "key_count").data);
  const Prompt first = run.questions(0).front().prompt;
  EXPECT_EQ(counts.front(), static_cast<int64_t>(first.ids.size()));

  // The tokens of the keys are stored too.
  const auto labels =
      std::get<std::vector<std::string>>(reader.ReadRow("sweep", "key_label", 0).data);
  ASSERT_GE(labels.size(), first.ids.size());
  for (size_t key = 0; key < first.ids.size(); ++key) {
    EXPECT_EQ(labels[key], DisplayText(run.decoder->tokenizer().TokenText(first.ids[key])));
  }

  RunRequest request;
  request.ids = first.ids;
  request.intervention = run.plan.settings.front().intervention;
  LastQueryAttention capture(run.decoder->config());
  request.hooks = {&capture};
  run.decoder->RunOne(request);
  const Array row = reader.ReadRow("sweep", "last_query_attention", 0);
  const auto& stored = std::get<std::vector<float>>(row.data);
  for (int64_t key = 0; key < capture.keys(); ++key) {
    EXPECT_NEAR(stored[static_cast<size_t>(key)], capture.Row(0, 0)[static_cast<size_t>(key)],
                1e-4);
  }
}

TEST_F(SweepTest, SettingsThatTheModelCannotTakeAreRefusedBeforehand) {
  const ModelConfig& config = EmbeddedModel()->config();
  EXPECT_THROW(CheckSettings({ReadSetting("channel(576, factor=-1)")}, config), Error);
  EXPECT_THROW(CheckSettings({ReadSetting("channel(1, factor=-1, layers=8-30)")}, config), Error);
  CheckSettings({ReadSetting(kFlip), ReadSetting(kMsPoe)}, config);
}

// ZeroSCROLLS averages these before it takes the geometric mean.
TEST_F(SweepTest, TheThreeRougeScoresOfASummaryAreKept) {
  SweepRun run = MakeRun({"none", kFlip}, 2);
  run.plan.score = {false, true};
  const QuestionSource plain = run.questions;
  run.questions = [&plain](int64_t sample) {
    std::vector<TaskQuestion> questions = plain(sample);
    for (TaskQuestion& question : questions) {
      question.sample.generation = {12, AnswerCut::kWhole, AnswerMetric::kRougeGeometricMean};
      question.sample.answers = {"The answer is the number of the line that was asked for"};
    }
    return questions;
  };
  SweepStore store = Store(run);
  run.store = &store;
  const SweepResult result = RunSweep(run, {});
  const SampleOutcome& outcome = result.outcomes.front();
  ASSERT_EQ(outcome.rouge.size(), size_t{4} * kRougeKinds);
  for (size_t cell = 0; cell < 4; ++cell) {
    const double* rouge = &outcome.rouge[cell * kRougeKinds];
    EXPECT_NEAR(outcome.generation_score[cell], std::cbrt(rouge[0] * rouge[1] * rouge[2]), 1e-12);
  }
  EXPECT_THAT(GenerationMeanText(result), HasSubstr("as ZeroSCROLLS forms it"));
  const RunReader reader(File());
  const Array kept = reader.ReadArray("sweep", "generation_rouge");
  EXPECT_EQ(kept.axes, (std::vector<std::string>{"sample", "setting", "place", "rouge"}));
  const Record means = reader.Read("outcome_means");
  EXPECT_THAT(std::get<std::string>(means.attributes.at("generation_score_mean")),
              HasSubstr("geometric mean of the mean"));
}

TEST_F(SweepTest, PlanTellsSweepsApartByWhatDecidesTheirNumbers) {
  const SweepRun run = MakeRun({"none", kFlip});
  SweepPlan other = run.plan;
  // The same setting in another spelling.
  other.settings[1].text = "channel( 100 , factor=-1, layers=8-25)";
  EXPECT_EQ(PlanJson(run.plan, *run.decoder), PlanJson(other, *run.decoder));
  other.seed = 2;
  EXPECT_NE(PlanJson(run.plan, *run.decoder), PlanJson(other, *run.decoder));
}

}  // namespace
}  // namespace midscope
