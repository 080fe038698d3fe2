// SPDX-License-Identifier: MIT
// Runs with position schemes, compared with transformers with the same rope_parameters
// (schemes_golden.json, made by make_schemes_golden.py), and with each other where they must agree.
//
// Contract (float32): logits within 1e-4 of the largest logit of transformers; cached decoding and
// chunks within 1e-3 of one run over prompt and generated tokens; identities bit for bit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/golden_runs.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::Difference;
using test::Largest;

// A tiny model whose context is `context` tokens (0: its own), opened once.
std::shared_ptr<const Decoder> Tiny(const std::string& name, int64_t context = 0) {
  static std::map<std::pair<std::string, int64_t>, std::shared_ptr<const Decoder>> open;
  auto& decoder = open[{name, context}];
  if (decoder) return decoder;
  const test::TemporaryFolder folder(test::TinyModelFolder(name));
  if (context > 0) {
    auto config = nlohmann::json::parse(folder.Read("config.json"));
    config["max_position_embeddings"] = context;
    folder.Write("config.json", config.dump());
  }
  decoder = Decoder::Open(folder.path().string(), {.weights = WeightStorage::kExpanded});
  return decoder;
}

RunResult RunIds(const Decoder& decoder, std::span<const int32_t> ids, const Intervention& change,
                 Trace* trace = nullptr, int64_t prompt_tokens = 0) {
  RunRequest request;
  request.ids = ids;
  request.prompt_tokens = prompt_tokens;
  request.intervention = change;
  request.trace = trace;
  return decoder.RunOne(request);
}

RunResult RunIds(const Decoder& decoder, std::span<const int32_t> ids, const std::string& setting) {
  return RunIds(decoder, ids, ParseIntervention(setting));
}

TEST(Schemes, EqualTransformersWithTheSameRopeParameters) {
  const auto cases =
      nlohmann::json::parse(std::ifstream(MIDSCOPE_TESTS "/core/golden/schemes_golden.json"));
  ASSERT_GE(cases.size(), 10u);
  for (const auto& golden : cases) {
    const auto name = golden["model"].get<std::string>();
    const auto setting = golden["setting"].get<std::string>();
    const auto expected = golden["logits"].get<std::vector<float>>();
    const auto decoder = Tiny(name, golden["context"].get<int64_t>());
    const RunResult result = RunIds(*decoder, test::PromptIds(name), setting);
    EXPECT_LE(Difference(result.logits, expected), 1e-4 * Largest(expected))
        << name << " " << setting << " of " << golden["context"];
  }
}

Intervention UniformTable(double ratio) {
  Intervention change;
  change.Add(TermOf(HeadRatioTable{"table", 6, std::vector<double>(12, ratio)}));
  return change;
}

TEST(Schemes, IdentitiesHoldBitForBit) {
  const auto decoder = Tiny("qwen3");
  const auto ids = test::PromptIds("qwen3");
  const auto plain = RunIds(*decoder, ids, "none").logits;
  for (const char* setting : {"pi(1)", "base(10000)", "ntk(1)", "yarn(1)", "dynamic-ntk(2)",
                              "dynamic-linear", "ms-poe(min=1, max=1, order=random, first_layer=0)",
                              "ms-poe(min=1, max=1, order=entropy, first_layer=0)"}) {
    EXPECT_EQ(RunIds(*decoder, ids, setting).logits, plain) << setting;
  }
  EXPECT_EQ(RunIds(*decoder, ids, UniformTable(1)).logits, plain);
  const auto pi = RunIds(*decoder, ids, "pi(1.5)").logits;
  EXPECT_NE(pi, plain);
  EXPECT_EQ(RunIds(*decoder, ids, UniformTable(1.5)).logits, pi);
  for (const char* order : {"random", "entropy"}) {
    EXPECT_EQ(RunIds(*decoder, ids,
                     std::string("ms-poe(min=1.5, max=1.5, first_layer=0, order=") + order + ")")
                  .logits,
              pi)
        << order;
  }
  // 40 tokens where 20 are trained: every position halved.
  EXPECT_EQ(RunIds(*Tiny("qwen3", 20), ids, "dynamic-linear").logits,
            RunIds(*decoder, ids, "pi(2)").logits);
  EXPECT_EQ(RunIds(*decoder, ids, "nope(layers=all)").logits,
            RunIds(*decoder, ids, "nope(layers=0-1)").logits);
}

// Frequencies halved are positions halved; at frequency 0 nothing turns.
TEST(Schemes, AllRotaryPairsAreTheSchemesOfWholePositions) {
  for (const char* name : {"llama", "qwen3"}) {
    const auto decoder = Tiny(name);
    const auto ids = test::PromptIds(name);
    EXPECT_EQ(RunIds(*decoder, ids, "rotary-pairs(all, factor=0.5)").logits,
              RunIds(*decoder, ids, "pi(2)").logits);
    EXPECT_EQ(RunIds(*decoder, ids, "rotary-pairs(all, factor=0, rows=last)").logits,
              RunIds(*decoder, ids, "nope(layers=all, rows=last)").logits);
    EXPECT_NE(RunIds(*decoder, ids, "rotary-pairs(0, factor=0.5)").logits,
              RunIds(*decoder, ids, "none").logits);
  }
}

// Two settings that multiply queries in the same way, and a model's own longrope as a setting.
TEST(Schemes, ScaledQueriesAndLongRopeAsTheyAreElsewhere) {
  const auto decoder = Tiny("qwen3");
  const auto ids = test::PromptIds("qwen3");
  const auto plain = RunIds(*decoder, ids, "none").logits;
  const auto scaled = RunIds(*decoder, ids, "self-extend(group=1, window=8, scale_base=12)").logits;
  EXPECT_GT(Difference(scaled, plain), 1e-3 * Largest(plain));
  const double base = decoder->config().rope_base;
  EXPECT_LE(
      Difference(
          RunIds(*decoder, ids, "eabf(" + NumberText(base) + ", context=12, first_layer=0)").logits,
          scaled),
      1e-5 * Largest(plain));
  EXPECT_EQ(RunIds(*decoder, ids, "self-extend(group=1, window=64, scale_base=40)").logits, plain);

  const auto phi3 = Tiny("phi3-long");
  const auto words = test::PromptIds("phi3-long");
  EXPECT_EQ(
      RunIds(*phi3, words, "longrope(\"" + test::TinyModelFolder("phi3-long") + "/config.json\")")
          .logits,
      RunIds(*phi3, words, "none").logits);
}

// The ratios that a run reports, read back as a table, give the same run.
TEST(Schemes, ReportedRatiosAsATableGiveTheSameRun) {
  const auto decoder = Tiny("qwen3");
  const auto ids = test::PromptIds("qwen3");
  for (const char* setting : {"ms-poe(first_layer=0)", "ms-poe(first_layer=0, order=entropy)",
                              "ms-poe(first_layer=1, order=random, seed=3)",
                              "ms-poe(min=1.8, max=0.7, first_layer=0, mode=group)"}) {
    const RunResult run = RunIds(*decoder, ids, setting);
    Intervention table;
    table.Add(TermOf(HeadRatioTable{"table", 6, run.position_ratio.values}));
    EXPECT_EQ(RunIds(*decoder, ids, table).logits, run.logits) << setting;
  }
}

// All positions moved by a constant leave logits alone where a head's queries and keys share a
// ratio, and do not in mode code with grouped key heads (seed-facts A.3 #7).
TEST(Schemes, ShiftInvarianceHoldsButForCode) {
  const auto decoder = Tiny("qwen3");
  const auto ids = test::PromptIds("qwen3");
  const auto change_by_shift = [&](const std::string& setting) {
    const auto here = RunIds(*decoder, ids, setting).logits;
    const auto there =
        RunIds(*decoder, ids, setting + " + move(span=0:40, to=shift:60, rows=all)").logits;
    return Difference(here, there) / Largest(here);
  };
  for (const char* setting :
       {"none", "pi(1.5)", "yarn(4)", "ms-poe(first_layer=0)", "ms-poe(first_layer=0, mode=group)",
        "ms-poe(first_layer=0, order=random)", "nope(layers=0)"}) {
    EXPECT_LE(change_by_shift(setting), 1e-5) << setting;
  }
  EXPECT_GE(change_by_shift("ms-poe(first_layer=0, mode=code)"), 1e-3);
  EXPECT_LE(change_by_shift("ms-poe(first_layer=0, mode=code, min=1.5, max=1.5)"), 1e-5);
}

const std::vector<std::string>& AllSchemes() {
  static const std::vector<std::string> settings = {
      "none",
      "pi(3)",
      "base(500000)",
      "ntk(4)",
      "dynamic-ntk(2)",
      "dynamic-linear",
      "yarn(4)",
      "yarn(4, form=paper)",
      "yarn(4, form=cream, magnitude=1)",
      "dynamic-yarn",
      "ntk-by-parts(4)",
      "eabf(500000, context=12, first_layer=1)",
      "nope(layers=1)",
      "ms-poe(min=3, max=4, first_layer=0)",
      "ms-poe(min=4, max=3, first_layer=0, mode=code)",
      "ms-poe(min=3, max=4, first_layer=1, mode=group)",
      "ms-poe(min=3, max=4, first_layer=0, order=random, seed=9)",
      "ms-poe(min=3, max=4, first_layer=0, order=entropy)"};
  return settings;
}

// 20 tokens of prompt and 32 more. The model is trained on 24, so that dynamic schemes change their
// frequencies with every token from the fifth on; with others the context is long enough. Each
// token's logits equal those of one run over all tokens up to it.
TEST(Schemes, CachedDecodingEqualsRecomputation) {
  std::vector<int32_t> prompt = test::PromptIds("qwen3");
  prompt.resize(20);
  for (const std::string& setting : AllSchemes()) {
    const Intervention change = ParseIntervention(setting);
    const auto decoder = Tiny("qwen3", setting.starts_with("dynamic") ? 24 : 0);
    const auto trace = decoder->MakeTrace(52, false);
    std::vector<int32_t> ids = prompt;
    double largest = 0;
    while (ids.size() < 52) {
      const auto cached = RunIds(*decoder, ids, change, trace.get(), 20).logits;
      const auto vocabulary = static_cast<size_t>(decoder->config().vocabulary);
      const std::span<const float> row = std::span(cached).last(vocabulary);
      const auto full = RunIds(*decoder, ids, change, nullptr, 20).logits;
      largest = std::max(largest, Difference(row, std::span(full).last(vocabulary)));
      ids.push_back(static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin()));
    }
    EXPECT_LE(largest, 1e-3) << setting;
  }
}

// Rows continued on a trace in awkward chunks equal one run, where no ratio waits for the last
// prompt row.
TEST(Schemes, ChunksOnATraceEqualOneRun) {
  const auto ids = test::PromptIds("qwen3");
  for (const std::string& setting : AllSchemes()) {
    if (setting.starts_with("ms-poe") && setting.find("random") == std::string::npos) continue;
    const Intervention change = ParseIntervention(setting);
    const auto decoder = Tiny("qwen3", setting.starts_with("dynamic") ? 24 : 0);
    const auto whole = RunIds(*decoder, ids, change).logits;
    const auto trace = decoder->MakeTrace(40, false);
    RunResult last;
    for (const size_t end : {1, 2, 9, 23, 26, 39, 40})
      last = RunIds(*decoder, std::span(ids).first(end), change, trace.get());
    EXPECT_LE(Difference(last.logits, whole), 1e-3) << setting;
  }
}

TEST(Schemes, WhatIfFromAnyToAnyEqualsAFullRun) {
  const auto decoder = Tiny("qwen3", 24);
  Prompt prompt;
  prompt.ids = test::PromptIds("qwen3");
  prompt.answer_ids = {5, 77, 9};
  const std::vector<int32_t> ids = IdsToScore(prompt.ids, prompt.answer_ids);
  WhatIf what_if(decoder, {prompt});
  std::vector<std::string> settings(AllSchemes().begin() + 1, AllSchemes().end());
  // Every scheme here reaches 42 tokens.
  std::erase_if(settings, [](const auto& text) { return text.starts_with("nope"); });
  for (size_t stride : {1, 5}) {
    for (size_t i = 0; i < settings.size(); ++i) {
      const std::string& setting = settings[i * stride % settings.size()];
      const Intervention change = ParseIntervention(setting);
      const WhatIfOutcome outcome = what_if.Evaluate(change).outcomes[0];
      const RunResult full = RunIds(*decoder, ids, change, nullptr, 40);
      EXPECT_LE(Difference(outcome.last_logits, full.Logits(39)), 1e-3) << setting;
      EXPECT_EQ(outcome.position_ratio.values, full.position_ratio.values) << setting;
    }
  }
}

TEST(Schemes, TheContextFollowsTheScheme) {
  const auto decoder = Tiny("qwen3", 24);
  const auto ids = test::PromptIds("qwen3");
  EXPECT_NO_THROW(RunIds(*decoder, ids, "pi(2)"));
  EXPECT_NO_THROW(RunIds(*decoder, ids, "dynamic-ntk(2)"));
  try {
    RunIds(*decoder, ids, "pi(1.5)");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("40 tokens"),
                                               ::testing::HasSubstr("holds 36")));
  }
  EXPECT_THROW(RunIds(*decoder, ids, "none"), Error);
}

}  // namespace
}  // namespace midscope
