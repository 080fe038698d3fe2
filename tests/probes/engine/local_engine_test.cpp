// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <fstream>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "probes/engine/engine.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/tiny_models.h"
#include "tests/probes/support/local_engine_fixture.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using testing::Data;
using testing::Find;

class LocalEngineTest : public testing::LocalEngineFixture {};

TEST_F(LocalEngineTest, GivesAPromptARecordForEveryPlace) {
  const std::vector<Record> prompts = SetSmallTask();
  ASSERT_EQ(prompts.size(), 2u);
  EXPECT_EQ(std::get<int64_t>(prompts[1].attributes.at("place")), 4);
  const auto gold = static_cast<size_t>(std::get<int64_t>(prompts[1].attributes.at("gold")));
  EXPECT_EQ(Data<std::string>(prompts[1], "span_name")[gold], "gold");
  EXPECT_GT(Data<int64_t>(prompts[1], "span_token_begin")[gold],
            Data<int64_t>(prompts[0], "span_token_begin")[static_cast<size_t>(
                std::get<int64_t>(prompts[0].attributes.at("gold")))]);
}

TEST_F(LocalEngineTest, CaptureRunReturnsItsRecords) {
  SetSmallTask();
  CaptureRunRequest request;
  request.place = 1;
  request.channels = {100};
  const std::vector<Record> records = engine->CaptureRun(request, {}).records;
  for (const Record& record : records) record.Check();
  const int64_t keys = Find(records, "last_query_attention").FindAxis("key")->size;
  EXPECT_EQ(Data<float>(Find(records, "hidden_channels"), "hidden_channel").size(),
            static_cast<size_t>(30 * keys));
  EXPECT_EQ(Data<float>(Find(records, "position_awareness"), "position_awareness_score").size(),
            270u);
  EXPECT_EQ(Data<double>(Find(records, "position_ratio"), "position_ratio").size(), 270u);
  EXPECT_FALSE(Data<int64_t>(Find(records, "next_tokens"), "next_token_ids").empty());
}

TEST_F(LocalEngineTest, WhatIfAgreesWithACaptureRun) {
  SetSmallTask();
  WhatIfRequest request;
  request.place = 1;
  engine->WhatIf(request, {}, {});
  request.intervention = ParseIntervention("channel(100, factor=-1, layers=8-25)");
  request.channels = {100, 7};
  const WhatIfReply reply = engine->WhatIf(request, {}, {});
  EXPECT_TRUE(reply.cost.last_rows_only);
  CaptureRunRequest capture;
  capture.place = 1;
  capture.channels = request.channels;
  capture.intervention = request.intervention;
  const std::vector<Record> full = engine->CaptureRun(capture, {}).records;
  const auto& kept =
      Data<float>(Find(reply.records, "last_query_attention"), "last_query_attention");
  const auto& fresh = Data<float>(Find(full, "last_query_attention"), "last_query_attention");
  ASSERT_EQ(kept.size(), fresh.size());
  for (size_t i = 0; i < kept.size(); ++i) ASSERT_NEAR(kept[i], fresh[i], 1e-4);
  // The records that update the window's map and channel plot during a drag.
  for (const Record& record : reply.records) record.Check();
  const auto& kept_scores =
      Data<float>(Find(reply.records, "position_awareness"), "position_awareness_score");
  const auto& scores = Data<float>(Find(full, "position_awareness"), "position_awareness_score");
  const double one_key = 270.5 / static_cast<double>(kept.size());
  ASSERT_EQ(kept_scores.size(), scores.size());
  for (size_t i = 0; i < scores.size(); ++i) ASSERT_NEAR(kept_scores[i], scores[i], one_key);
  const auto& kept_channels = Data<float>(Find(reply.records, "hidden_channels"), "hidden_channel");
  const auto& channels = Data<float>(Find(full, "hidden_channels"), "hidden_channel");
  ASSERT_EQ(kept_channels.size(), channels.size());
  for (size_t i = 0; i < channels.size(); ++i) {
    ASSERT_NEAR(kept_channels[i], channels[i], 1e-3 * std::max(1.0F, std::abs(channels[i])));
  }
  EXPECT_EQ(Data<double>(Find(reply.records, "outcome"), "answer_nll").size(), 2u);
}

TEST_F(LocalEngineTest, ComparePairsSamplesAndTellsParts) {
  SetSmallTask();
  CompareRequest request;
  request.settings = {ParseIntervention("none"), ParseIntervention("pi(1.5)")};
  request.samples = 3;
  std::vector<int64_t> seen;
  const Record means = engine->Compare(
      request, [&](const Record& part) { seen.push_back(Data<int64_t>(part, "samples").front()); },
      {});
  EXPECT_THAT(seen, ::testing::ElementsAre(1, 2, 3));
  EXPECT_EQ(means.name, "outcome_means");
  EXPECT_EQ(Data<int64_t>(means, "samples"), (std::vector<int64_t>{3, 3}));
  const auto& nll = Data<double>(means, "answer_nll");
  const auto& low = Data<double>(means, "answer_nll_low");
  const auto& high = Data<double>(means, "answer_nll_high");
  ASSERT_EQ(nll.size(), 4u);
  means.Check();
  const auto& samples = Data<double>(means, kNllBySample);  // [setting, sample, place]
  ASSERT_EQ(samples.size(), 12u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_LE(low[i], nll[i]);
    EXPECT_GE(high[i], nll[i]);
    const size_t first = (i / 2) * 6 + i % 2;
    EXPECT_NEAR((samples[first] + samples[first + 2] + samples[first + 4]) / 3, nll[i], 1e-12);
  }

  WhatIfRequest what_if;
  // Sample 0 is among the compared samples.
  const WhatIfReply reply = engine->WhatIf(what_if, {}, {});
  EXPECT_GT(Data<double>(Find(reply.records, "outcome"), "answer_nll").front(), 0);
}

// Settings that were compared in separate calls have the same differences as in one comparison.
TEST_F(LocalEngineTest, DifferencesAreToAnySettingOverTheSameSamples) {
  SetSmallTask();
  const Intervention none;
  const Intervention other = ParseIntervention("pi(1.5)");
  CompareRequest request;
  request.settings = {none, other};
  request.samples = 4;
  const Record together = engine->Compare(request, {}, {});
  SetSmallTask();  // drops the cached results
  request.settings = {none};
  engine->Compare(request, {}, {});
  request.settings = {other};
  request.beside = {none};
  request.against = none;
  std::vector<Record> parts;
  const Record apart =
      engine->Compare(request, [&](const Record& part) { parts.push_back(part); }, {});
  ASSERT_EQ(parts.size(), 4u);
  apart.Check();
  EXPECT_EQ(std::get<std::string>(apart.attributes.at("against")), "none");
  EXPECT_EQ(apart.FindAxis("setting")->labels, (std::vector<std::string>{"pi(1.5)", "none"}));
  for (const char* name :
       {"answer_nll_difference", "answer_nll_difference_low", "answer_nll_difference_high"}) {
    const auto& one = Data<double>(together, name);  // order: none, pi
    const auto& two = Data<double>(apart, name);     // order: pi, none
    ASSERT_EQ(one.size(), 4u);
    EXPECT_EQ(std::vector<double>(one.begin() + 2, one.end()),
              std::vector<double>(two.begin(), two.begin() + 2))
        << name;
    EXPECT_EQ(two[2], 0) << name;
  }
  EXPECT_NE(Data<double>(apart, "answer_nll_difference")[0], 0);
  // For one sample there is a difference but no interval.
  EXPECT_TRUE(std::isnan(Data<double>(parts[0], "answer_nll_difference_low")[0]) ||
              Data<double>(parts[0], "answer_nll_difference_low")[0] ==
                  -std::numeric_limits<double>::infinity());
}

TEST_F(LocalEngineTest, AStoppedComparisonGoesOnWhereItWas) {
  SetSmallTask();
  CompareRequest request;
  request.settings = {ParseIntervention("none"), ParseIntervention("pi(1.5)")};
  request.samples = 4;
  std::atomic<bool> cancel = false;
  JobContext stopped;
  stopped.cancel = &cancel;
  std::vector<int64_t> seen;
  const auto stop_after_two = [&](const Record& part) {
    seen.push_back(Data<int64_t>(part, "samples").front());
    if (seen.back() == 2) cancel = true;
  };
  EXPECT_THROW(engine->Compare(request, stop_after_two, stopped), Cancelled);
  const auto note = [&](const Record& part) {
    seen.push_back(Data<int64_t>(part, "samples").front());
  };
  const Record means = engine->Compare(request, note, {});
  EXPECT_THAT(seen, ::testing::ElementsAre(1, 2, 3, 4));
  SetSmallTask();  // drops the cached results
  const Record at_once = engine->Compare(request, {}, {});
  for (const char* array : {"answer_nll", "answer_nll_low", "answer_nll_high", "accuracy"}) {
    EXPECT_EQ(Data<double>(means, array), Data<double>(at_once, array)) << array;
  }
  // Fewer samples are a subset of the cached ones.
  request.samples = 2;
  EXPECT_EQ(Data<int64_t>(engine->Compare(request, note, {}), "samples").front(), 2);
  EXPECT_EQ(seen.size(), 4u);
}

TEST_F(LocalEngineTest, ProbesRunWithTheOptionsOfTheRequestAndTellThem) {
  SetSmallTask();
  CaptureRunRequest request;
  request.probe_options = R"({"probes":"default,logit_lens","lens-top":2})";
  const std::vector<Record> records = engine->CaptureRun(request, {}).records;
  const Record& lens = Find(records, "logit_lens");
  EXPECT_EQ(std::get<std::string>(lens.attributes.at("options")), R"({"lens-top":2})");
  request.probe_options = R"({"probes":"no_such_probe"})";
  EXPECT_THROW(engine->CaptureRun(request, {}), Error);
}

TEST_F(LocalEngineTest, PartialMeansHaveOthersBesideOverTheSameSamples) {
  SetSmallTask();
  CompareRequest request;
  request.settings = {ParseIntervention("none")};
  request.samples = 3;
  std::vector<std::vector<double>> alone;  // by number of finished samples
  engine->Compare(
      request, [&](const Record& part) { alone.push_back(Data<double>(part, "answer_nll")); }, {});
  request.settings = {ParseIntervention("pi(1.5)")};
  request.beside = {ParseIntervention("none"), ParseIntervention("pi(7)")};
  size_t seen = 0;
  engine->Compare(request,
                  [&](const Record& part) {
                    part.Check();
                    EXPECT_THAT(part.FindAxis("setting")->labels,
                                ::testing::ElementsAre("pi(1.5)", "none"));  // pi(7) is not cached
                    const auto samples = static_cast<int64_t>(++seen);
                    EXPECT_THAT(Data<int64_t>(part, "samples"),
                                ::testing::ElementsAre(samples, samples));
                    const auto& nll = Data<double>(part, "answer_nll");
                    EXPECT_EQ(std::vector<double>(nll.begin() + 2, nll.end()), alone.at(seen - 1));
                  },
                  {});
  EXPECT_EQ(seen, 3u);
}

std::string Text(const Record& record, const std::string& attribute) {
  return std::get<std::string>(record.attributes.at(attribute));
}

TEST_F(LocalEngineTest, EveryRecordSaysWhatMadeIt) {
  const std::vector<Record> prompts = SetSmallTask();
  EXPECT_NE(Text(prompts[0], "prompt_hash"), Text(prompts[1], "prompt_hash"));
  EXPECT_EQ(Text(prompts[0], "subject_hash"), Text(prompts[1], "subject_hash"));
  const Intervention setting = ParseIntervention("pi(1.5)");
  const auto expect_origin = [&](const Record& record) {
    SCOPED_TRACE(record.name);
    EXPECT_EQ(Text(record, "intervention"), PrintIntervention(setting));
    EXPECT_EQ(Text(record, "model_hash"), engine->Describe().model_hash);
    EXPECT_EQ(Text(record, "dtype"), "float32");
    EXPECT_EQ(Text(record, "subject_hash"), Text(prompts[1], "subject_hash"));
    EXPECT_THAT(Text(record, "task"), HasSubstr("lines=4"));
    EXPECT_EQ(std::get<int64_t>(record.attributes.at("seed")), 1);
    EXPECT_EQ(std::get<int64_t>(record.attributes.at("sample")), 0);
    const bool of_all = record.name == "outcome";
    EXPECT_EQ(Text(record, "prompt_hash"), of_all ? "" : Text(prompts[1], "prompt_hash"));
    EXPECT_EQ(std::get<int64_t>(record.attributes.at("place")), of_all ? 0 : 4);
  };
  WhatIfRequest what_if;
  what_if.place = 1;
  what_if.intervention = setting;
  for (const Record& record : engine->WhatIf(what_if, {}, {}).records) expect_origin(record);
  CaptureRunRequest capture;
  capture.place = 1;
  capture.intervention = setting;
  for (const Record& record : engine->CaptureRun(capture, {}).records) expect_origin(record);
  CompareRequest compare;
  compare.settings = {setting};
  compare.samples = 1;
  const Record means = engine->Compare(compare, {}, {});
  EXPECT_EQ(Text(means, "model_hash"), engine->Describe().model_hash);
  EXPECT_EQ(means.FindAxis("setting")->labels.front(), PrintIntervention(setting));
  // Another passage with the same words is another prompt.
  PromptRequest own;
  own.task.clear();
  own.text = "The capital of France is";
  own.gold_begin = 4;
  own.gold_end = 11;
  const std::string first = Text(engine->SetPrompt(own, {}).front(), "prompt_hash");
  own.gold_begin = 15;
  own.gold_end = 21;
  EXPECT_NE(Text(engine->SetPrompt(own, {}).front(), "prompt_hash"), first);
}

TEST_F(LocalEngineTest, RetrievalHeadsRunOnATasksPrompt) {
  SetSmallTask();
  CaptureRunRequest request;
  request.probe_options = R"({"probes":"default,retrieval_heads"})";
  const CaptureRunReply reply = engine->CaptureRun(request, {});
  EXPECT_THAT(reply.failures, ::testing::IsEmpty());
  EXPECT_EQ(Data<double>(Find(reply.records, "retrieval_heads"), "retrieval_score").size(), 270u);
}

TEST_F(LocalEngineTest, AProbeThatFailsDoesSoAlone) {
  PromptRequest prompt_request;
  prompt_request.task.clear();
  prompt_request.text = "The capital of France is";
  engine->SetPrompt(prompt_request, {});
  CaptureRunRequest request;
  request.channels = {100000};  // the model also lacks this channel
  request.probe_options = R"({"probes":"default,retrieval_heads,logit_lens"})";
  const CaptureRunReply reply = engine->CaptureRun(request, {});
  EXPECT_THAT(reply.failures,
              ::testing::UnorderedElementsAre(HasSubstr("retrieval_heads"), HasSubstr("100000")));
  EXPECT_EQ(Find(reply.records, "position_awareness").name, "position_awareness");
  EXPECT_EQ(Find(reply.records, "logit_lens").name, "logit_lens");
  // An invalid setting fails the run, not a single probe.
  request.intervention = ParseIntervention("channel(2393, factor=0, layers=8-25)");
  EXPECT_THROW(engine->CaptureRun(request, {}), Error);
}

TEST_F(LocalEngineTest, OwnTextHasOnePlace) {
  PromptRequest prompt_request;
  prompt_request.task = "";
  prompt_request.text = "The capital of France is";
  prompt_request.gold_begin = 15;
  prompt_request.gold_end = 21;
  prompt_request.answer = " Paris";
  const std::vector<Record> prompts = engine->SetPrompt(prompt_request, {});
  ASSERT_EQ(prompts.size(), 1u);
  EXPECT_EQ(Data<int64_t>(prompts[0], "span_token_begin").front(), 3);
  CompareRequest request;
  request.settings = {Intervention()};
  const Record means = engine->Compare(request, {}, {});
  EXPECT_EQ(Data<int64_t>(means, "samples").front(), 1);
  EXPECT_NEAR(Data<double>(means, "answer_nll").front(), 0.258, 0.01);
  EXPECT_EQ(means.FindAxis("place")->values, std::vector<double>{1});
}

TEST_F(LocalEngineTest, OwnTextWithoutAnAnswerHasNoNumber) {
  PromptRequest prompt_request;
  prompt_request.task = "";
  prompt_request.text = "The capital of France is";
  const std::vector<Record> prompts = engine->SetPrompt(prompt_request, {});
  EXPECT_EQ(std::get<int64_t>(prompts[0].attributes.at("gold")), -1);
  const WhatIfReply reply = engine->WhatIf({}, {}, {});
  EXPECT_TRUE(std::isnan(Data<double>(Find(reply.records, "outcome"), "answer_nll").front()));
}

TEST_F(LocalEngineTest, AfterACancelledCallTheNextIsRight) {
  SetSmallTask();
  const WhatIfReply before = engine->WhatIf({}, {}, {});
  std::atomic<bool> cancel = true;
  JobContext cancelled;
  cancelled.cancel = &cancel;
  WhatIfRequest request;
  request.intervention = ParseIntervention("pi(2)");
  EXPECT_THROW(engine->WhatIf(request, {}, cancelled), Cancelled);
  const WhatIfReply after = engine->WhatIf({}, {}, {});
  const auto& a = Data<double>(Find(before.records, "outcome"), "answer_nll");
  const auto& b = Data<double>(Find(after.records, "outcome"), "answer_nll");
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-4);
}

// The model is trained on 128 tokens.
TEST(LocalEngineContext, APromptBeyondItRunsUnderASchemeThatReachesFurther) {
  const auto engine = MakeLocalEngine();
  OpenRequest model;
  model.model = test::TinyModelFolder("llama");
  engine->Open(model, {});
  PromptRequest prompt_request;
  prompt_request.task.clear();
  for (int i = 0; i < 60; ++i) prompt_request.text += "one two three ";
  prompt_request.answer = " four";
  const std::vector<Record> prompts = engine->SetPrompt(prompt_request, {});
  ASSERT_GT(Data<int64_t>(prompts[0], "token_ids").size(), 128u);
  WhatIfRequest request;
  const auto refused = [&](const char* setting) {
    request.intervention = ParseIntervention(setting);
    return test::ErrorMessage(ErrorKind::kUsage, [&] { engine->WhatIf(request, {}, {}); });
  };
  EXPECT_THAT(refused("none"), AllOf(HasSubstr("context holds 128"), HasSubstr("self-extend")));
  request.intervention = ParseIntervention("self-extend(group=8, window=32)");
  const WhatIfReply reply = engine->WhatIf(request, {}, {});
  EXPECT_TRUE(std::isfinite(Data<double>(Find(reply.records, "outcome"), "answer_nll")[0]));
  EXPECT_THAT(refused("pi(1.1)"), HasSubstr("under this position scheme"));
}

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0;
  int64_t resident = 0;
  file >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

// The memory of a closed model is returned to the system: opening again adds less than a tenth of a
// model.
TEST_F(LocalEngineTest, OpeningAgainTakesNoMoreMemory) {
  OpenRequest request;
  const auto own = MakeLocalEngine();
  for (int i = 0; i < 2; ++i) own->Open(request, {});
  const int64_t before = ResidentBytes();
  for (int i = 0; i < 6; ++i) own->Open(request, {});
  EXPECT_LT(ResidentBytes() - before, int64_t{48} << 20);
}

TEST_F(LocalEngineTest, AModelThatCannotBeOpenedLeavesTheOldOne) {
  SetSmallTask();
  OpenRequest request;
  request.model = "/nowhere/model.gguf";
  EXPECT_THROW(engine->Open(request, {}), Error);
  EXPECT_EQ(engine->Describe().architecture, "llama");
  EXPECT_FALSE(engine->CaptureRun({}, {}).records.empty());
}

}  // namespace
}  // namespace midscope
