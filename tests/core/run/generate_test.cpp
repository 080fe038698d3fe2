// SPDX-License-Identifier: MIT
// Generation with a cache equals running prompt and generated tokens again (for settings with every
// term, see decoding_test).
//
// Contract (float32): greedy tokens are equal; logits of the new run are within 1e-3 of the cached
// ones (checked through the tokens' margins).

#include "core/run/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "core/base/error.h"
#include "core/run/scoring.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/embedded_decoder.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;

TEST(Generate, CachedDecodingEqualsRecomputation) {
  const auto decoder = testing::EmbeddedDecoder();
  const auto prompt = decoder->tokenizer().EncodeIds(
      "In the old town by the river there stood a house, and in that house lived");
  for (const char* setting :
       {"none", "ms-poe(order=entropy)",
        "ms-poe() + channel(215, factor=0, layers=8-25, change_value=yes)",
        "move(span=3:8, to=shift:4) + crop(span=9:12) + ablate(L3H2, with=mean)"}) {
    GenerateOptions options;
    options.new_tokens = 12;
    options.stop_at_end = false;
    const Generated generated = Generate(*decoder, prompt, ParseIntervention(setting), options, {});
    ASSERT_EQ(generated.ids.size(), 12u);
    // All generated tokens in one run: each row must predict the next with the frozen ratios and
    // scaled rows of the prompt.
    const auto ids = IdsToScore(prompt, generated.ids);
    RunRequest request;
    request.ids = ids;
    request.prompt_tokens = static_cast<int64_t>(prompt.size());
    request.intervention = ParseIntervention(setting);
    const RunResult result = decoder->RunOne(request);
    EXPECT_TRUE(ScoreAnswer(result, request.prompt_tokens, generated.ids).correct) << setting;
  }
}

// Rows that the previous setting left in the trace are used only where they are valid: in any order
// of settings, each gives its result alone.
TEST(GenerateGreedy, OnASharedTraceEqualsEachAlone) {
  const auto decoder = testing::EmbeddedDecoder();
  constexpr int64_t kNewTokens = 5;
  const std::vector<std::vector<int32_t>> prompts = {
      decoder->tokenizer().EncodeIds(
          "In the old town by the river there stood a house, and in that house lived"),
      decoder->tokenizer().EncodeIds(
          "The capital of France is Paris, and the capital of Spain is")};
  std::vector<std::unique_ptr<Trace>> traces;
  traces.reserve(prompts.size());
  for (const auto& prompt : prompts) {
    traces.push_back(GreedyTrace(*decoder, static_cast<int64_t>(prompt.size()), kNewTokens, true));
  }
  for (const char* setting :
       {"none", "channel(100, factor=-1, layers=8-25)", "boost(span=3:6, factor=3)", "pi(1.4)",
        "pi(1.4) + channel(100, factor=-1, rows=last:4)", "ms-poe()",
        "ms-poe() + channel(215, factor=0)", "infini(segment=6)",
        "infini(segment=6) + temperature(L20H2, 2, rows=last)", "ablate(L3H2, with=mean)",
        "ablate(L3H2, with=mean) + channel(100, factor=0)", "none"}) {
    std::vector<GreedyRequest> shared;
    std::vector<GreedyRequest> alone;
    for (size_t i = 0; i < prompts.size(); ++i) {
      alone.push_back({prompts[i], ParseIntervention(setting), kNewTokens});
      shared.push_back(alone.back());
      shared.back().trace = traces[i].get();
    }
    const std::vector<Generated> expected = GenerateGreedy(*decoder, alone);
    const std::vector<Generated> made = GenerateGreedy(*decoder, shared);
    for (size_t i = 0; i < prompts.size(); ++i) {
      EXPECT_EQ(made[i].ids, expected[i].ids) << setting << ", prompt " << i;
    }
  }
}

// Prompts that begin alike take rows from one another; each gives what it gives alone.
TEST(GenerateGreedy, PromptsThatBeginAlikeEqualEachAlone) {
  const auto decoder = testing::EmbeddedDecoder();
  const std::string begin =
      "In the old town by the river there stood a house with a green door and seven windows, and "
      "everybody who lived in that house had at one time or another been to sea with the captain. ";
  const std::vector<std::vector<int32_t>> prompts = {
      decoder->tokenizer().EncodeIds(begin + "The door of the house was"),
      decoder->tokenizer().EncodeIds(begin + "One morning the captain came to the town and"),
      decoder->tokenizer().EncodeIds("The capital of France is")};
  for (const char* setting : {"none", "channel(100, factor=-1, layers=8-25)", "pi(1.4)", "ms-poe()",
                              "self-extend(group=2, window=16)", "dynamic-ntk(2)"}) {
    std::vector<GreedyRequest> requests;
    requests.reserve(prompts.size());
    for (const auto& prompt : prompts) requests.push_back({prompt, ParseIntervention(setting), 5});
    const std::vector<Generated> together = GenerateGreedy(*decoder, requests);
    for (size_t i = 0; i < prompts.size(); ++i) {
      const Generated alone = GenerateGreedy(*decoder, std::span(&requests[i], 1)).front();
      EXPECT_EQ(together[i].ids, alone.ids) << setting << ", prompt " << i;
    }
  }
}

TEST(Generate, SeedDecidesSampledText) {
  const auto decoder = testing::EmbeddedDecoder();
  const auto prompt = decoder->tokenizer().EncodeIds("Once upon a time");
  GenerateOptions options;
  options.new_tokens = 16;
  options.temperature = 1.0;
  options.top_p = 0.95;
  options.top_k = 200;
  options.seed = 7;
  const auto first = Generate(*decoder, prompt, {}, options, {});
  const auto again = Generate(*decoder, prompt, {}, options, {});
  options.seed = 8;
  const auto other = Generate(*decoder, prompt, {}, options, {});
  EXPECT_EQ(first.ids, again.ids);
  EXPECT_NE(first.ids, other.ids);
}

TEST(Generate, CallbackEndsTheRun) {
  const auto decoder = testing::EmbeddedDecoder();
  const auto prompt = decoder->tokenizer().EncodeIds("Once upon a time");
  int64_t seen = 0;
  const auto generated =
      Generate(*decoder, prompt, {}, {}, [&](const GeneratedToken&) { return ++seen < 3; });
  EXPECT_EQ(generated.ids.size(), 3u);
}

TEST(Generate, RefusesOptionsOutOfRange) {
  const auto decoder = testing::EmbeddedDecoder();
  const std::vector<int32_t> prompt = {504};
  GenerateOptions options;
  options.top_p = 0;
  EXPECT_THROW(Generate(*decoder, prompt, {}, options, {}), Error);
  options = {};
  options.temperature = -1;
  EXPECT_THROW(Generate(*decoder, prompt, {}, options, {}), Error);
  options = {};
  options.new_tokens = 0;
  EXPECT_THROW(Generate(*decoder, prompt, {}, options, {}), Error);
}

// The model is trained on 128 tokens; the last token generated is not run.
TEST(GreedyBatch, TheContextFollowsTheScheme) {
  const auto decoder = Decoder::Open(test::TinyModelFolder("llama"), {kernels::Dtype::kFloat32, 1});
  ASSERT_EQ(decoder->config().trained_context, 128);
  const std::vector<int32_t> prompt = test::SomeTinyIds(120);
  const auto run = [&](const std::string& setting, int64_t new_tokens) {
    const Intervention intervention = ParseIntervention(setting);
    const GreedyRequest request{prompt, intervention, new_tokens};
    GenerateOptions options;
    options.new_tokens = new_tokens;
    const Generated single = Generate(*decoder, prompt, intervention, options, {});
    const Generated greedy = GenerateGreedy(*decoder, {&request, 1}).front();
    EXPECT_EQ(greedy.ids, single.ids) << setting;
    return static_cast<int64_t>(greedy.ids.size());
  };
  EXPECT_EQ(run("none", 9), 9);
  const std::string refused = test::ErrorMessage([&] { run("none", 10); });
  EXPECT_THAT(refused, HasSubstr("120 tokens, 10 are to follow"));
  EXPECT_THAT(refused, HasSubstr("context holds 128."));
  EXPECT_EQ(run("pi(1.5)", 73), 73);
  EXPECT_THAT(test::ErrorMessage([&] { run("pi(1.5)", 74); }),
              HasSubstr("context holds 192 under this position scheme"));
  for (const char* setting : {"self-extend(group=4, window=16)", "infini(segment=32)",
                              "dynamic-ntk(2)", "dynamic-linear"}) {
    EXPECT_EQ(run(setting, 40), 40) << setting;
  }
}

TEST(Scoring, TiesGoToTheLowerIdAndTheLastAnswerTokenNeedNotRun) {
  const std::vector<float> logits = {1, 3, 3, 2};
  const auto top = TopTokens(logits, 9);
  ASSERT_EQ(top.size(), 4u);
  EXPECT_EQ(top[0].id, 1);
  EXPECT_EQ(top[1].id, 2);
  const std::vector<int32_t> prompt = {1, 2};
  const std::vector<int32_t> answer = {3, 4};
  EXPECT_EQ(IdsToScore(prompt, answer), (std::vector<int32_t>{1, 2, 3}));
}

}  // namespace
}  // namespace midscope
