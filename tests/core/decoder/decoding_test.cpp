// SPDX-License-Identifier: MIT
// Decoding token by token, and prompts in chunks, under a setting with every kind of term on a
// small model.
//
// Contract (float32): for each of 32 tokens decoded on a trace, logits are within 1e-3 of one run
// over prompt and generated tokens with the prompt's ratios; those of the last prompt row after
// chunks of 7 or of 33 tokens are within 1e-3 of those after the complete prompt. Settings are
// packed into batches, as GenerateGreedy packs prompts, so the weights are read once for all of
// them.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "core/run/scoring.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/deep_decoder.h"
#include "tests/core/support/embedded_decoder.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::Difference;

constexpr double kSteppedTolerance = 1e-3;
// A setting's change is larger than rounding.
constexpr double kChange = 1e-2;
constexpr size_t kPromptTokens = 40;
constexpr size_t kSteps = 32;
constexpr size_t kSettingsAtOnce = 17;

constexpr const char* kStackOnGroups =
    "ms-poe(mode=group) + channel(100, factor=0, layers=8-25, change_value=yes) + "
    "crop(span=20:30, keep=none, layers=0-7) + boost(span=3:9, factor=2, rows=last:5)";
constexpr const char* kStackOnMemory =
    "infini(segment=12, gate=0.3) + channel(100, factor=0, layers=8-25, change_value=yes) + "
    "ablate(L3H2, with=mean, rows=answer) + temperature(L20H1, 2, rows=last)";

// Every kind of term, every mode of it and every choice of rows; dynamic schemes have a test of
// their own.
std::vector<std::string> Settings(const std::string& ratio_file) {
  return {"none",
          "pi(1.5)",
          "base(500000)",
          "ntk(2)",
          "yarn(4, context=2048)",
          "nope(layers=3-5)",
          "ratios(\"" + ratio_file + "\")",
          "ms-poe()",
          "ms-poe(mode=code)",
          "ms-poe(mode=group)",
          "ms-poe(order=score-reversed)",
          "ms-poe(order=reversed)",
          "ms-poe(order=random, seed=5)",
          "ms-poe(order=entropy)",
          "self-extend(group=3, window=16)",
          "infini(segment=12, gate=0.2)",
          "infini(segment=11, gate=0.2, update=delta)",
          "channel(100, factor=-1, layers=8-25)",
          "channel(100, factor=-1, layers=8-25, rows=last)",
          "channel([100,215], factor=[-1,0], layers=8-25, rows=all)",
          "channel(100, factor=-1, layers=8-25, change_value=yes)",
          "channel(100, factor=-1, layers=8-25, rows=last:16, change_value=yes)",
          "channel(100, factor=-1, layers=8-25, rows=all, change_value=yes)",
          "crop(span=20:30, layers=0-7)",
          "move(span=10:20, to=shift:15)",
          "move(span=20:38, to=shift:-9, rows=all)",
          "boost(span=10:20, factor=3)",
          "boost(span=10:36, factor=2, renormalise=yes, rows=all)",
          "ablate([L12H3,L20G1])",
          "ablate([L3H2,L12G0], with=mean)",
          "temperature([L12H3,L20G1], 2)",
          kStackOnGroups,
          kStackOnMemory,
          "self-extend(group=2, window=9) + channel(100, factor=-1, layers=8-25, rows=last:30)"};
}

struct Case {
  std::string setting;
  Intervention intervention;
  std::vector<int32_t> ids;  // the prompt, then what was generated
  std::unique_ptr<Trace> trace;
  HeadMatrix ratios;                       // that the prompt has frozen
  std::vector<std::vector<float>> logits;  // [step, vocabulary]

  RunRequest Request(size_t tokens) {
    RunRequest request;
    request.ids = std::span(ids).first(tokens);
    request.prompt_tokens = kPromptTokens;
    request.intervention = intervention;
    request.trace = trace.get();
    request.first_logit_row = static_cast<int64_t>(tokens) - 1;
    return request;
  }
};

std::vector<Case> Cases(const Decoder& decoder, std::span<const std::string> settings) {
  std::vector<Case> cases;
  cases.reserve(settings.size());
  for (const std::string& setting : settings)
    cases.push_back({setting,
                     ParseIntervention(setting),
                     testing::SomeIds(decoder, kPromptTokens),
                     nullptr,
                     {},
                     {}});
  return cases;
}

void Renew(const Decoder& decoder, Case& item) {
  item.trace.reset();
  item.trace = decoder.MakeTrace(kPromptTokens + kSteps,
                                 /*residual=*/!item.intervention.All<ChannelScaling>().empty());
}

// 32 tokens, each on what the ones before have left.
void Decode(const Decoder& decoder, std::vector<Case>& cases) {
  for (Case& item : cases) Renew(decoder, item);
  for (size_t step = 0; step < kSteps; ++step) {
    std::vector<RunRequest> requests;
    requests.reserve(cases.size());
    for (Case& item : cases) requests.push_back(item.Request(item.ids.size()));
    std::vector<RunResult> results = decoder.Run(requests);
    for (size_t i = 0; i < cases.size(); ++i) {
      Case& item = cases[i];
      if (step == 0) item.ratios = results[i].position_ratio;
      // dynamic-linear has another ratio for every length; all others have the prompt's.
      if (!item.setting.starts_with("dynamic")) {
        EXPECT_EQ(results[i].position_ratio.values, item.ratios.values) << item.setting;
      }
      item.logits.push_back(std::move(results[i].logits));
      if (step + 1 < kSteps) item.ids.push_back(TopTokens(item.logits.back(), 1).front().id);
    }
  }
}

// One run over all tokens has every step's logits in its rows.
void ExpectFullRunsAgree(const Decoder& decoder, std::vector<Case>& cases) {
  std::vector<RunRequest> requests;
  for (Case& item : cases) {
    item.trace.reset();
    requests.push_back(item.Request(item.ids.size()));
    requests.back().ratios = item.ratios;
    requests.back().first_logit_row = kPromptTokens - 1;
  }
  const std::vector<RunResult> results = decoder.Run(requests);
  for (size_t i = 0; i < cases.size(); ++i) {
    double largest = 0;
    for (size_t step = 0; step < kSteps; ++step) {
      const auto row = static_cast<int64_t>(kPromptTokens - 1 + step);
      largest = std::max(largest, Difference(cases[i].logits[step], results[i].Logits(row)));
    }
    EXPECT_LE(largest, kSteppedTolerance) << cases[i].setting;
  }
}

// Every other case, from `first` on: neighbours in the list are much alike, so half of them are
// enough for each size.
void ExpectChunksAgree(const Decoder& decoder, std::vector<Case>& cases, size_t first,
                       size_t chunk) {
  for (size_t i = first; i < cases.size(); i += 2) Renew(decoder, cases[i]);
  std::vector<RunResult> results;
  for (size_t end = 0; end < kPromptTokens;) {
    end = std::min(end + chunk, kPromptTokens);
    std::vector<RunRequest> requests;
    for (size_t i = first; i < cases.size(); i += 2) {
      requests.push_back(cases[i].Request(end));
      requests.back().ratios = cases[i].ratios;
    }
    results = decoder.Run(requests);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Case& item = cases[first + 2 * i];
    EXPECT_LE(Difference(results[i].logits, item.logits[0]), kSteppedTolerance)
        << item.setting << " in chunks of " << chunk;
  }
}

TEST(Decoding, CachedTokensAndChunksEqualRecomputationUnderEveryTerm) {
  const auto decoder = testing::DeepDecoder();
  const test::TemporaryFolder folder;
  std::string table = "layer,head,ratio\n";
  for (int layer = 0; layer < 30; ++layer) {
    for (int head = 0; head < 9; ++head) {
      table += std::to_string(layer) + "," + std::to_string(head) + "," +
               std::to_string(1 + (layer + 2 * head) % 7 * 0.1) + "\n";
    }
  }
  folder.Write("ratios.csv", table);
  const std::vector<std::string> settings = Settings((folder.path() / "ratios.csv").string());
  std::vector<float> plain;
  for (size_t begin = 0; begin < settings.size(); begin += kSettingsAtOnce) {
    std::vector<Case> cases = Cases(
        *decoder,
        std::span(settings).subspan(begin, std::min(kSettingsAtOnce, settings.size() - begin)));
    Decode(*decoder, cases);
    if (plain.empty()) plain = cases.front().logits[0];
    ExpectFullRunsAgree(*decoder, cases);
    ExpectChunksAgree(*decoder, cases, 0, 7);
    ExpectChunksAgree(*decoder, cases, 1, 33);
    for (const Case& item : cases) {
      if (item.setting == "none") continue;
      EXPECT_GT(Difference(item.logits[0], plain), kChange) << item.setting;
    }
  }
}

// Beyond the trained context dynamic schemes have other frequencies for every length: each token's
// logits are those of one run over the tokens up to it.
TEST(Decoding, DynamicSchemesFollowTheLength) {
  constexpr uint32_t kTrained = kPromptTokens + 28;
  const test::TemporaryFile file(testing::DeepModelBytes(kTrained));
  const auto decoder = Decoder::Open(file.path().string(), {});
  const std::vector<std::string> settings = {
      "dynamic-linear", "dynamic-ntk(2) + channel(100, factor=-1, layers=8-25, change_value=yes)"};
  std::vector<Case> cases = Cases(*decoder, settings);
  Decode(*decoder, cases);
  for (const size_t tokens : {size_t{kTrained}, kPromptTokens + kSteps - 1}) {
    for (Case& item : cases) {
      item.trace.reset();
      const RunResult full = decoder->RunOne(item.Request(tokens));
      EXPECT_LE(Difference(full.logits, item.logits[tokens - kPromptTokens]), kSteppedTolerance)
          << item.setting << " of " << tokens << " tokens";
    }
  }
}

// Contract: exactly those of the logits that the same run gives, also where the logits are on
// another device, are scaled, capped or have a bias, and in a re-run that keeps nothing.
TEST(Decoding, LikeliestTokensAreThoseOfTheLogits) {
  constexpr int64_t kLikeliest = 5;
  const std::string embedded = "embedded";
  for (const std::string& model :
       {embedded, test::TinyModelFolder("gemma2"), test::TinyModelFolder("cohere"),
        test::TinyModelFolder("gptj")}) {
    for (const char* device : {"cpu", "cpu:portable"}) {
      const auto decoder = Decoder::Open(model, {.placement = ParsePlacement(device)});
      const std::vector<int32_t> ids = {5, 9, 33, 7, 21, 14, 30};
      const auto trace = decoder->MakeTrace(static_cast<int64_t>(ids.size()));
      RunRequest request;
      request.ids = ids;
      request.first_logit_row = 4;
      request.trace = trace.get();
      const RunResult logits = decoder->RunOne(request);
      trace->Truncate(0);
      request.likeliest = kLikeliest;
      const RunResult likeliest = decoder->RunOne(request);
      const auto rerun_of = [&](int64_t count) {
        RunRequest rerun = request;
        rerun.likeliest = count;
        const auto layers = static_cast<size_t>(decoder->config().layers);
        rerun.rerun = {.first_row = std::vector<int64_t>(layers, 4), .keep = false};
        return decoder->RunOne(rerun);
      };
      const RunResult rerun_logits = rerun_of(0);
      const RunResult rerun_likeliest = rerun_of(kLikeliest);
      for (const auto& [of_logits, told] :
           {std::pair{&logits, &likeliest}, std::pair{&rerun_logits, &rerun_likeliest}}) {
        EXPECT_TRUE(told->logits.empty());
        ASSERT_EQ(told->likeliest.size(), 3 * kLikeliest) << model << " " << device;
        for (int64_t row = 4; row < 7; ++row) {
          const auto expected = TopTokens(of_logits->Logits(row), kLikeliest);
          for (size_t i = 0; i < expected.size(); ++i) {
            const TopToken& token =
                told->likeliest[static_cast<size_t>((row - 4) * kLikeliest) + i];
            EXPECT_EQ(token.id, expected[i].id) << model << " " << device << " " << row;
            EXPECT_NEAR(token.logit, expected[i].logit, 1e-5) << model << " " << device;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace midscope
