// SPDX-License-Identifier: MIT
// What-ifs with patches run only the rows that change, and equal full runs, alone and with other
// terms, one setting after another on one trace. Tolerances as in what_if_pairs_test.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/intervention/passage.h"
#include "core/run/what_if.h"
#include "core/run/what_if_pair.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/deep_decoder.h"
#include "tests/core/support/embedded_decoder.h"

namespace midscope {
namespace {

constexpr double kPatchTolerance = 1e-3;
constexpr int64_t kPromptTokens = 26;

Prompt SomePrompt(uint64_t seed) {
  Prompt prompt;
  prompt.ids = testing::SomeIds(*testing::DeepDecoder(), kPromptTokens, seed);
  prompt.answer_ids = testing::SomeIds(*testing::DeepDecoder(), 3, 53);
  const auto begin = static_cast<int64_t>(5 + seed);
  prompt.spans = {{"gold", 0, 0, begin, begin + 4}};
  return prompt;
}

std::shared_ptr<PatchSources> Sources() {
  return std::make_shared<PatchSources>(
      *testing::DeepDecoder(), PatchPrompts{[](int64_t place, int64_t samples_on) {
        return SomePrompt(static_cast<uint64_t>(place + samples_on));
      }});
}

RunResult PatchedRun(const Prompt& prompt, const std::string& setting) {
  const std::vector<int32_t> ids = IdsToScore(prompt.ids, prompt.answer_ids);
  RunRequest request;
  request.ids = ids;
  request.prompt_tokens = kPromptTokens;
  request.intervention =
      ResolvePassages(Sources()->Give(ParseIntervention(setting), prompt), prompt);
  return testing::DeepDecoder()->RunOne(request);
}

void ExpectEqual(const WhatIfOutcome& outcome, const RunResult& full, const Prompt& prompt,
                 const std::string& what) {
  EXPECT_LE(test::Difference(outcome.last_logits, full.Logits(kPromptTokens - 1)), kPatchTolerance)
      << what;
  EXPECT_NEAR(outcome.score.nll, ScoreAnswer(full, kPromptTokens, prompt.answer_ids).nll, 1e-3)
      << what;
}

// Terms of each kind beside each `what`, and back again.
const std::vector<std::string>& PatchSettings() {
  static const std::vector<std::string> settings = {
      "patch(from=place:9, span=last, layers=20)",
      "patch(from=place:9, what=z, span=gold, heads=L12H3) + channel(100, factor=-1, layers=8-25)",
      "patch(from=place:9, what=k, span=gold, layers=5) + ms-poe(layers=2-29)",
      "patch(from=place:9, what=q, span=last, layers=5) + ms-poe(order=entropy, layers=2-29)",
      "ms-poe(layers=2-29)",
      "patch(from=place:9, what=v, span=gold) + ablate(L9H3, with=mean, rows=answer)",
      "ablate(L9H3, with=mean, rows=answer)",
      "patch(from=place:9, what=attn_out, span=last:3, layers=3-9) + pi(1.5, rows=last)",
      "patch(from=\"setting:pi(1.5)\", what=mlp_out, span=all, layers=7)",
      "none",
      "patch(from=\"setting:ms-poe\", what=resid, span=gold, layers=4) + crop(span=gold)",
      "patch(from=place:4, what=resid, span=gold, layers=4) + self-extend(group=2, window=9)",
      std::string("patch(from=place:9, what=k, span=gold) + ") +
          "channel(100, factor=-1, rows=last, change_value=yes)",
      "patch(from=place:9, what=k, span=all, layers=5)",
      "patch(from=place:9, what=v, span=gold, layers=5) + positions(sampler=pose, factor=2)",
  };
  return settings;
}

TEST(WhatIfPatch, EqualsAFullRun) {
  const Prompt prompt = SomePrompt(3);
  WhatIf what_if(testing::DeepDecoder(), {prompt});
  what_if.TakePatchesFrom(Sources());
  for (const int turn : {0, 1}) {
    std::vector<std::string> settings = PatchSettings();
    if (turn == 1) std::reverse(settings.begin(), settings.end());
    for (const std::string& setting : settings) {
      const WhatIfResult result = what_if.Evaluate(ParseIntervention(setting));
      ExpectEqual(result.outcomes[0], PatchedRun(prompt, setting), prompt, setting);
    }
  }
}

// The scheme stays while patches of what its scores are made of come and go.
TEST(WhatIfPatch, RatiosFollowPatchedQueriesAndKeys) {
  const Prompt prompt = SomePrompt(3);
  WhatIf what_if(testing::DeepDecoder(), {prompt});
  what_if.TakePatchesFrom(Sources());
  const std::string scheme = "ms-poe(layers=2-29)";
  for (const char* patch : {"what=q, span=last, layers=5", "what=k, span=gold, layers=3-9",
                            "what=k, span=last:9, layers=20-29"}) {
    what_if.Evaluate(ParseIntervention(scheme));
    const std::string setting = scheme + " + patch(from=place:9, " + patch + ")";
    ExpectEqual(what_if.Evaluate(ParseIntervention(setting)).outcomes[0],
                PatchedRun(prompt, setting), prompt, setting);
  }
}

TEST(WhatIfPatch, EqualsAFullRunWithDroppedLayers) {
  const Prompt prompt = SomePrompt(3);
  const auto decoder = testing::DeepDecoder();
  WhatIf what_if(decoder, {prompt}, decoder->TraceBytes(kPromptTokens + 2) / 2);
  what_if.TakePatchesFrom(Sources());
  for (const std::string& setting : PatchSettings()) {
    const WhatIfResult result = what_if.Evaluate(ParseIntervention(setting));
    EXPECT_GT(result.kept.first_layer, 0);
    ExpectEqual(result.outcomes[0], PatchedRun(prompt, setting), prompt, setting);
  }
}

TEST(WhatIfPatch, SettingsTogetherEqualEachAlone) {
  const std::vector<Prompt> prompts = {SomePrompt(3), SomePrompt(4)};
  WhatIf together(testing::DeepDecoder(), prompts);
  together.TakePatchesFrom(Sources());
  std::vector<std::string> texts = PatchSettings();
  for (const char* what : {"resid", "q", "k", "v", "z", "attn_out", "mlp_out"})
    texts.push_back(std::string("patch(from=place:9, span=last, layers=6-7, what=") + what + ")");
  std::vector<Intervention> settings(texts.size());
  std::transform(texts.begin(), texts.end(), settings.begin(),
                 [](const std::string& text) { return ParseIntervention(text); });
  size_t told = 0;
  together.EvaluateEach(settings, [&](size_t setting, size_t prompt, const WhatIfOutcome& outcome) {
    ExpectEqual(outcome, PatchedRun(prompts[prompt], texts[setting]), prompts[prompt],
                texts[setting]);
    ++told;
  });
  EXPECT_EQ(told, 2 * texts.size());
}

TEST(WhatIfPatch, RunsTheRowsThatChange) {
  WhatIf what_if(testing::DeepDecoder(), {SomePrompt(3)});
  what_if.TakePatchesFrom(Sources());
  const auto work = [&](const std::string& setting) {
    what_if.Evaluate({});
    return what_if.Evaluate(ParseIntervention(setting));
  };
  const WhatIfResult last = work("patch(from=place:9, span=last, layers=20)");
  EXPECT_TRUE(last.last_rows_only);
  EXPECT_EQ(last.first_layer, 20);
  const WhatIfResult gold = work("patch(from=place:9, span=gold, what=v, layers=11-12)");
  EXPECT_EQ(gold.first_row, 8);
  EXPECT_EQ(gold.first_layer, 11);
  // A setting that has just run: no row changes.
  EXPECT_EQ(what_if
                .Evaluate(ParseIntervention("patch(from=place:9, span=gold, what=v, "
                                            "layers=11-12)"))
                .share,
            0);
  // Other values at the same rows are another setting.
  EXPECT_EQ(what_if
                .Evaluate(ParseIntervention("patch(from=place:4, span=gold, what=v, "
                                            "layers=11-12)"))
                .first_row,
            8);
}

// The control: another sample's values give that sample's answer.
TEST(WhatIfPatch, FromAnotherSampleGivesItsAnswer) {
  const Prompt prompt = SomePrompt(3);
  WhatIfPair pair(testing::DeepDecoder(), {prompt});
  pair.TakePatchesFrom(Sources());
  const auto top = [](const std::vector<float>& logits) { return TopTokens(logits, 1).front().id; };
  const int32_t own = top(pair.Evaluate({}).outcomes[0].last_logits);
  const RunResult other = PatchedRun(SomePrompt(9), "none");
  const std::span<const float> others = other.Logits(kPromptTokens - 1);
  const int32_t its = TopTokens(others, 1).front().id;
  ASSERT_NE(own, its);
  for (const char* setting :
       {"patch(from=place:9, span=last)", "patch(from=place:9, span=all, layers=0-25)"}) {
    EXPECT_EQ(top(pair.Evaluate(ParseIntervention(setting)).outcomes[0].last_logits), its)
        << setting;
  }
  EXPECT_EQ(top(pair.Evaluate({}).outcomes[0].last_logits), own);
}

}  // namespace
}  // namespace midscope
