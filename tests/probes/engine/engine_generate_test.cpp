// SPDX-License-Identifier: MIT
// Text that the window's engine generates: the same as midscope generate, token by token, and
// stopped at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/run/generate.h"
#include "core/terms/intervention_text.h"
#include "probes/prompt/task_prompt.h"
#include "tests/core/support/embedded_decoder.h"
#include "tests/core/support/error_message.h"
#include "tests/probes/support/local_engine_fixture.h"

namespace midscope {
namespace {

using testing::Data;
using testing::Find;

class EngineGenerate : public testing::LocalEngineFixture {};

int64_t Flag(const Record& record, const char* name) {
  return std::get<int64_t>(record.attributes.at(name));
}

std::string Text(const Record& record) {
  return std::get<std::string>(record.attributes.at("text"));
}

TEST_F(EngineGenerate, GivesWhatTheCommandGives) {
  SetSmallTask();
  const auto decoder = testing::EmbeddedDecoder();
  const auto task = MakeTaskFor(decoder->tokenizer(), "list:lines=4", 1);
  const Prompt prompt = TaskPrompts(decoder->tokenizer(), *task, {4}, 0).front();
  for (const char* setting : {"none", "channel(100, factor=-1, layers=8-25)"}) {
    GenerateRequest request;
    request.place = 1;
    request.new_tokens = 12;
    request.intervention = ParseIntervention(setting);
    const Record record = engine->Generate(request, {}, {});
    record.Check();
    GenerateOptions options;
    options.new_tokens = 12;
    const Generated expected = Generate(*decoder, prompt.ids, request.intervention, options, {});
    const auto& ids = Data<int64_t>(record, "new_token_ids");
    EXPECT_EQ(std::vector<int32_t>(ids.begin(), ids.end()), expected.ids) << setting;
    EXPECT_EQ(Text(record), expected.text) << setting;
    EXPECT_EQ(Flag(record, "ended"), expected.ended ? 1 : 0);
    EXPECT_EQ(Flag(record, "cut"), expected.ended ? 0 : 1);
    EXPECT_EQ(Flag(record, "greedy"), 1);
    EXPECT_EQ(Flag(record, "complete"), 1);
    EXPECT_EQ(std::get<std::string>(record.attributes.at("intervention")),
              PrintIntervention(request.intervention));
    // The first token is the likeliest next one, with its probability.
    WhatIfRequest what_if;
    what_if.place = 1;
    what_if.intervention = request.intervention;
    const Record next = Find(engine->WhatIf(what_if, {}, {}).records, "next_tokens");
    EXPECT_EQ(ids.front(), Data<int64_t>(next, "next_token_ids").front());
    EXPECT_NEAR(Data<double>(record, "new_token_probability").front(),
                Data<double>(next, "probability").front(), 1e-4);
  }
}

TEST_F(EngineGenerate, TellsTokensAsTheyCome) {
  SetSmallTask();
  GenerateRequest request;
  request.new_tokens = 24;
  std::vector<int64_t> sizes;
  std::vector<std::chrono::steady_clock::time_point> times;
  std::string last;
  const Record whole = engine->Generate(request,
                                        [&](const Record& part) {
                                          part.Check();
                                          EXPECT_EQ(Flag(part, "complete"), 0);
                                          EXPECT_EQ(Flag(part, "cut"), 0);
                                          sizes.push_back(part.FindAxis("new_token")->size);
                                          times.push_back(std::chrono::steady_clock::now());
                                          last = Text(part);
                                        },
                                        {});
  ASSERT_FALSE(sizes.empty());
  EXPECT_EQ(sizes.front(), 1);
  for (size_t i = 1; i < sizes.size(); ++i) {
    EXPECT_GT(sizes[i], sizes[i - 1]);
    EXPECT_GE(times[i] - times[i - 1], std::chrono::milliseconds(90));
  }
  EXPECT_EQ(Text(whole).substr(0, last.size()), last);
}

TEST_F(EngineGenerate, ACancelEndsItWithinASecond) {
  SetSmallTask();
  GenerateRequest request;
  request.new_tokens = 2000;
  std::atomic<bool> cancel = false;
  JobContext context;
  context.cancel = &cancel;
  std::chrono::steady_clock::time_point cancelled;
  const auto stop = [&](const Record&) {
    cancelled = std::chrono::steady_clock::now();
    cancel = true;
  };
  EXPECT_THROW(engine->Generate(request, stop, context), Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - cancelled, std::chrono::seconds(1));
  // The prompts are as they were.
  request.new_tokens = 1;
  EXPECT_EQ(Data<int64_t>(engine->Generate(request, {}, {}), "new_token_ids").size(), 1u);
}

TEST_F(EngineGenerate, TheNextTokensKnowTheAnswersFirstToken) {
  const std::vector<Record> prompts = SetSmallTask();
  const auto& tokens = Data<std::string>(prompts.front(), "answer_token_text");
  ASSERT_EQ(tokens.size(), 1u);
  EXPECT_EQ(tokens.front(), std::get<std::string>(prompts.front().attributes.at("answer")));
  const std::vector<Record> records = engine->WhatIf({}, {}, {}).records;
  const Record& next = Find(records, "next_tokens");
  EXPECT_EQ(std::get<std::string>(next.attributes.at("answer_token_text")), tokens.front());
  const double probability = std::get<double>(next.attributes.at("answer_probability"));
  const double nll = Data<double>(Find(records, "outcome"), "answer_nll").front();
  EXPECT_NEAR(-std::log(probability), nll, 1e-4);  // the answer is one token
  const int64_t rank = Flag(next, "answer_rank");
  const auto& likeliest = Data<double>(next, "probability");
  ASSERT_LT(rank, static_cast<int64_t>(likeliest.size()));
  EXPECT_DOUBLE_EQ(likeliest[static_cast<size_t>(rank)], probability);
  CaptureRunRequest capture;
  const Record full = Find(engine->CaptureRun(capture, {}).records, "next_tokens");
  EXPECT_EQ(Flag(full, "answer_rank"), rank);

  PromptRequest own;
  own.task.clear();
  own.text = "The capital of France is";
  EXPECT_EQ(engine->SetPrompt(own, {}).front().FindArray("answer_token_text"), nullptr);
  const Record plain = Find(engine->WhatIf({}, {}, {}).records, "next_tokens");
  EXPECT_FALSE(plain.attributes.contains("answer_rank"));
}

TEST_F(EngineGenerate, APromptThatDoesNotFitIsRefusedWithNumbers) {
  PromptRequest own;
  own.task.clear();
  for (int i = 0; i < 9000; ++i) own.text += " a";
  engine->SetPrompt(own, {});
  const std::string message = test::ErrorMessage([&] { engine->Generate({}, {}, {}); });
  EXPECT_THAT(message, ::testing::HasSubstr("8192"));
}

}  // namespace
}  // namespace midscope
