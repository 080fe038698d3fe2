// SPDX-License-Identifier: MIT
// Self-Extend and Infini-attention on the tiny models with both kinds of operations, compared with
// transformers' models with attention on whole matrices (make_far_schemes_golden.py); chunked,
// token-by-token and what-if runs compared with full runs; parameters with which they have no
// effect; and rejected inputs. Tolerances as in families_test: logits 1e-4 of the largest,
// attention 1e-5.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/run/what_if.h"
#include "core/terms/terms.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"

namespace midscope {
namespace {

using test::Describe;
using test::Difference;
using test::ErrorMessage;
using test::GoldenRun;
using test::kGoldenLogitTolerance;
using test::Largest;
using test::PromptIds;
using ::testing::HasSubstr;
using Json = nlohmann::json;

const test::GoldenFile& FarSchemesGolden() {
  static const test::GoldenFile golden("far_schemes_golden.json", {.sliding_window = false});
  return golden;
}

template <typename T>
Intervention Scheme(T scheme) {
  Intervention intervention;
  intervention.Add(TermOf(std::move(scheme)));
  return intervention;
}

Intervention Extended(int64_t group, int64_t window, int64_t scale_base = 0) {
  return Scheme(SelfExtend{group, window, scale_base});
}

Intervention Segments(int64_t segment, std::vector<double> gates,
                      MemoryUpdate update = MemoryUpdate::kLinear) {
  return Scheme(InfiniAttention{segment, std::move(gates), update});
}

Intervention SettingOf(const Json& setting) {
  if (setting.contains("group"))
    return Extended(setting["group"], setting["window"], setting.value("scale_base", 0));
  return Segments(setting["segment"], setting["gates"].get<std::vector<double>>(),
                  setting["update"] == "delta" ? MemoryUpdate::kDelta : MemoryUpdate::kLinear);
}

TEST(FarSchemes, AreThoseOfThePlainComputation) {
  ASSERT_GE(FarSchemesGolden()["cases"].size(), 52u);
  for (const char* placement : {"cpu", "cpu:portable"}) {
    for (const Json& item : FarSchemesGolden()["cases"]) {
      test::ExpectGolden(
          FarSchemesGolden().FullRun(item["model"], SettingOf(item["setting"]), placement),
          FarSchemesGolden().json(), item, Describe(item) + " " + placement);
    }
  }
}

// The golden numbers of different settings differ by far more than the tolerance.
TEST(FarSchemes, EachChangesSomething) {
  for (const Json& item : FarSchemesGolden()["cases"]) {
    const auto plain = FarSchemesGolden().FullRun(item["model"], "none");
    const auto changed = FarSchemesGolden().FullRun(item["model"], SettingOf(item["setting"]));
    EXPECT_GE(Difference(changed.result.Logits(42), plain.result.Logits(42)),
              20 * kGoldenLogitTolerance * Largest(plain.result.Logits(42)))
        << Describe(item);
  }
}

TEST(FarSchemes, ChunksAndSingleTokensEqualAFullRun) {
  for (const char* placement : {"cpu", "cpu:portable"}) {
    for (const Json& item : FarSchemesGolden()["cases"]) {
      const std::string model = item["model"];
      Intervention setting = SettingOf(item["setting"]);
      const auto check = [&](const std::vector<size_t>& ends) {
        test::ExpectStepsEqual(*FarSchemesGolden().Model(model, placement), model,
                               FarSchemesGolden().answer(), setting, ends,
                               FarSchemesGolden().FullRun(model, setting), Describe(item));
      };
      check({1, 3, 9, 22, 33});
      // Keys of the answer's rows come from scaled input.
      setting.Add(TermOf(ChannelScaling{3, -1.0, {}, ChannelRows::kAnswer, 1}));
      check({});
    }
  }
}

// Each setting follows others on one trace often enough to meet each kind of change.
TEST(FarSchemes, WhatIfEqualsAFullRun) {
  for (const char* placement : {"cpu", "cpu:portable"}) {
    for (const char* model : {"llama", "smollm3"}) {
      std::vector<Intervention> settings = {{}};
      for (const Json& item : FarSchemesGolden()["cases"]) {
        if (item["model"] != model) continue;
        settings.push_back(SettingOf(item["setting"]));
        settings.push_back(settings.back());
        settings.back().Add(TermOf(ChannelScaling{3, -1.0, {}, ChannelRows::kAnswer, 1}));
        settings.push_back(settings.back());
        settings.back().Change<ChannelScaling>(
            [](ChannelScaling& scaling) { scaling.rows = {ChannelRows::kLast}; });
        if (settings.size() % 4 == 0) settings.emplace_back();
      }
      settings.push_back(Extended(3, 9));
      settings.push_back(Extended(3, 9));
      settings.back().Add(TermOf(Boost{{"", 5, 12}, 2.0, false, {}, {}}));
      settings.push_back(Extended(3, 9));
      settings.back().Add(TermOf(Crop{{"", 20, 30}, {}, CropKeep::kFirst}));
      settings.push_back(Segments(11, {0.2}));
      settings.push_back(Segments(11, {0.4}));
      settings.back().Add(TermOf(Ablation{{{1, 2}}, AblateWith::kMean, {}}));
      test::ExpectWhatIfEqualsFullRuns(FarSchemesGolden().Model(model, placement),
                                       *FarSchemesGolden().Model(model), model,
                                       FarSchemesGolden().answer(), settings);
    }
  }
}

// The memories that segments have left are cached, too: a matrix of 8 x 8 and a vector of 8 float32
// for each of 3 key-value heads, in each layer that is kept, where rows are longer than a segment.
TEST(FarSchemes, MemoriesCountAgainstTheLimit) {
  const auto decoder = FarSchemesGolden().Model("llama");
  constexpr int64_t kMemory = int64_t{3} * (8 * 8 + 8) * 4;
  EXPECT_EQ(decoder->TraceBytes(42, {.memories = 5}), decoder->TraceBytes(42) + 5 * kMemory);
  Prompt prompt;
  prompt.ids = PromptIds("llama");
  prompt.answer_ids = {7, 130, 31};
  const auto rows = static_cast<int64_t>(prompt.ids.size()) + 2;
  WhatIf unlimited(decoder, {prompt});
  const auto kept = [&](const Intervention& setting) {
    return unlimited.Evaluate(setting).kept.bytes;
  };
  const int64_t plain = kept({});
  EXPECT_EQ(plain, decoder->TraceBytes(rows));
  EXPECT_EQ(kept(Segments(11, {0.2})), plain + 2 * kMemory);
  // Scaled keys go into memories of their own, which are not kept.
  Intervention scaled = Segments(11, {0.2});
  scaled.Add(TermOf(ChannelScaling{3, -1.0, {}, ChannelRows::kAnswer, 1}));
  EXPECT_EQ(kept(scaled), plain + 2 * kMemory);
  EXPECT_EQ(kept(Segments(rows - 1, {0.2})), plain + 2 * kMemory);
  EXPECT_EQ(kept(Segments(rows, {0.2})), plain);
  EXPECT_EQ(kept(Segments(11, {0.2})), plain + 2 * kMemory);
  EXPECT_EQ(kept({}), plain);

  WhatIf limited(decoder, {prompt}, plain + kMemory);
  EXPECT_EQ(limited.Evaluate({}).kept.first_layer, 0);
  for (const Intervention& setting : {Segments(11, {0.2}), scaled, Segments(11, {0.2})}) {
    const WhatIfResult result = limited.Evaluate(setting);
    EXPECT_EQ(result.kept.first_layer, 1);
    EXPECT_EQ(result.kept.bytes, decoder->TraceBytes(rows, {.first_layer = 1, .memories = 1}));
    const GoldenRun full = test::RunInFull(*decoder, "llama", {7, 130}, setting);
    const auto logits = full.result.Logits(static_cast<int64_t>(prompt.ids.size()) - 1);
    EXPECT_LE(Difference(result.outcomes[0].last_logits, logits),
              kGoldenLogitTolerance * Largest(logits));
  }
}

TEST(FarSchemes, AChannelChangeStaysWithTheLastRows) {
  Prompt prompt;
  prompt.ids = PromptIds("llama");
  prompt.answer_ids = {7};
  WhatIf what_if(FarSchemesGolden().Model("llama"), {prompt});
  for (Intervention setting : {Extended(3, 9), Segments(7, {0.3})}) {
    EXPECT_FALSE(what_if.Evaluate(setting).last_rows_only);
    setting.Add(TermOf(ChannelScaling{3, -1.0, {}, ChannelRows::kAnswer, 1}));
    EXPECT_TRUE(what_if.Evaluate(setting).last_rows_only);
  }
  EXPECT_FALSE(what_if.Evaluate(Extended(2, 9)).last_rows_only);
  EXPECT_FALSE(what_if.Evaluate(Extended(2, 8)).last_rows_only);
}

// Groups of one key, a window or a segment that holds all, are the model itself.
TEST(FarSchemes, AreNothingWhereTheyShouldBe) {
  for (const std::string& model : test::TinyModelNames()) {
    if (model.starts_with("gguf")) continue;
    const GoldenRun plain = FarSchemesGolden().FullRun(model, "none");
    const auto same = [&](const Intervention& setting, const std::string& what) {
      const GoldenRun run = FarSchemesGolden().FullRun(model, setting);
      EXPECT_EQ(run.result.logits, plain.result.logits) << model << " " << what;
      EXPECT_EQ(run.last_attention, plain.last_attention) << model << " " << what;
    };
    const ModelConfig& config = FarSchemesGolden().Model(model)->config();
    const bool has_memory = !config.latent.used();
    if (has_memory) same(Segments(44, {0.7}), "segment");
    if (FarSchemesGolden().Model(model)->config().positions != PositionKind::kRotary) continue;
    same(Extended(1, 6), "group");
    same(Extended(4, 44), "window");
  }
}

// The row of the second segment holds the local part's share, that of the first all.
TEST(FarSchemes, AttentionOfTheLastQueryIsTheLocalShare) {
  const auto keys = static_cast<int64_t>(PromptIds("llama").size());
  for (const int64_t segment : {13, 100}) {
    const GoldenRun run = FarSchemesGolden().FullRun("llama", Segments(segment, {0.25}));
    const int64_t start = (keys - 1) / segment * segment;
    for (int64_t row = 0; row < 12; ++row) {
      const auto weights = std::span(run.last_attention).subspan(static_cast<size_t>(row * keys));
      EXPECT_NEAR(std::accumulate(weights.begin(), weights.begin() + keys, 0.0),
                  start > 0 ? 0.75 : 1.0, 1e-6);
      EXPECT_TRUE(std::all_of(weights.begin(), weights.begin() + start,
                              [](float weight) { return weight == 0; }));
    }
  }
}

TEST(FarSchemes, BFloat16FollowsFloat32) {
  for (const char* placement : {"cpu", "cpu:portable"}) {
    for (const Intervention& setting :
         {Extended(2, 9), Segments(9, {0.4}), Segments(9, {0.4}, MemoryUpdate::kDelta)}) {
      for (const char* model : {"llama", "qwen3", "gpt-neox"}) {
        const GoldenRun exact = FarSchemesGolden().FullRun(model, setting);
        const auto rounded = test::RunInFull(
            *test::TinyDecoder(model, placement,
                               {.dtype = kernels::Dtype::kBFloat16, .sliding_window = false}),
            model, FarSchemesGolden().answer(), setting);
        // 8 bits of mantissa through 2 layers.
        EXPECT_LE(Difference(rounded.result.Logits(42), exact.result.Logits(42)),
                  0.04 * Largest(exact.result.Logits(42)))
            << model << " " << placement;
      }
    }
  }
}

TEST(FarSchemes, ReachBeyondTheTrainedContext) {
  const auto decoder = FarSchemesGolden().Model("llama");
  ASSERT_EQ(decoder->config().trained_context, 128);
  std::vector<std::string> log;
  JobContext context;
  context.log = [&](const std::string& message) { log.push_back(message); };
  const auto run = [&](const Intervention& intervention, int64_t tokens) {
    const auto ids = test::SomeTinyIds(tokens);
    RunRequest request;
    request.ids = ids;
    request.intervention = intervention;
    decoder->RunOne(request, context);
  };
  EXPECT_THROW(run({}, 129), Error);
  run(Segments(64, {0.1}), 300);
  run(Extended(4, 32), 128);  // within the trained context nothing needs saying
  run(Extended(4, 16), 160);  // 16 + (85 - 16) * 4 = 292
  EXPECT_TRUE(log.empty());
  run(Extended(4, 16), 300);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_THAT(log[0], HasSubstr("beyond 292 tokens group=4 and window=16"));
  run(Extended(4, 16), 310);  // said already
  EXPECT_EQ(log.size(), 1u);
  run(Extended(4, 16), 465);  // 16 + (128 - 16) * 4 = 464
  ASSERT_EQ(log.size(), 2u);
  EXPECT_THAT(log[1], HasSubstr("warning: beyond 464 tokens"));
}

TEST(FarSchemes, RefuseWhatTheyCannotDo) {
  const auto message = [](const std::string& model, const Intervention& setting) {
    return ErrorMessage([&] { FarSchemesGolden().FullRun(model, setting); });
  };
  EXPECT_THAT(message("mpt", Extended(2, 4)), HasSubstr("ALiBi"));
  EXPECT_THAT(message("llama", Extended(0, 4)), HasSubstr("group"));
  EXPECT_THAT(message("llama", Extended(2, 0)), HasSubstr("window"));
  Intervention moved = Extended(2, 4);
  moved.Add(TermOf(Move{{"", 5, 9}, MoveTo::kShift, 3, {}, {}}));
  EXPECT_THAT(message("llama", moved), HasSubstr("move"));
  EXPECT_THAT(message("llama", Segments(0, {0.1})), HasSubstr("segment"));
  EXPECT_THAT(message("llama", Segments(129, {0.1})), HasSubstr("at most 128"));
  EXPECT_THAT(message("llama", Segments(8, {0.1, 0.2})), HasSubstr("2 gates for 6 heads"));
  EXPECT_THAT(message("llama", Segments(8, {1.5})), HasSubstr("0 to 1"));
  Intervention cropped = Segments(8, {0.1});
  cropped.Add(TermOf(Crop{{"", 5, 9}, {}, CropKeep::kFirst}));
  EXPECT_THAT(message("llama", cropped), HasSubstr("crop"));
  const auto windowed =
      Decoder::Open(test::TinyModelFolder("mistral"), {kernels::Dtype::kFloat32, 1});
  for (const Intervention& setting : {Extended(2, 4), Segments(8, {0.1})}) {
    EXPECT_THAT(ErrorMessage([&] { test::RunInFull(*windowed, "mistral", {7}, setting); }),
                HasSubstr("--sliding-window off"));
  }
}

// A cancelled run leaves no memory behind that a later one would take for its own.
TEST(FarSchemes, CancelledRunsDoNotSpoilLaterOnes) {
  Prompt prompt;
  prompt.ids = PromptIds("smollm3");
  prompt.answer_ids = {7, 9};
  WhatIf what_if(FarSchemesGolden().Model("smollm3"), {prompt});
  const auto trial = [&](const Intervention& cancelled, const Intervention& next, int64_t stop) {
    std::atomic<bool> cancel{false};
    JobContext context;
    context.cancel = &cancel;
    context.progress = [&](const Progress& progress) { cancel = progress.done >= stop; };
    EXPECT_THROW(what_if.Evaluate(cancelled, context), Cancelled);
    test::ExpectOutcome(what_if.Evaluate(next).outcomes[0],
                        test::RunInFull(*FarSchemesGolden().Model("smollm3"), "smollm3", {7}, next),
                        "smollm3", PrintIntervention(next));
  };
  what_if.Evaluate(Segments(9, {0.3}));
  for (const int64_t stop : {1, 3}) {
    trial(Extended(2, 5), Segments(9, {0.3}), stop);
    trial(Segments(9, {0.3}, MemoryUpdate::kDelta), Segments(9, {0.5}), stop);
    trial({}, Segments(9, {0.5}, MemoryUpdate::kDelta), stop);
  }
}

}  // namespace
}  // namespace midscope
