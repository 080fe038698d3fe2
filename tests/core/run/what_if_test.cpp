// SPDX-License-Identifier: MIT
// A what-if equals a full run, for every kind of change, in any order of changes (on the embedded
// model, see what_if_pairs_test).
//
// Contract (float32): |difference| of logits <= 1e-3, of attention <= 1e-4; Ms-PoE's ratios must
// equal those of the full run here. Not bit-equal, because matrix products of few rows sum in
// another order.

#include "core/run/what_if.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "core/base/error.h"
#include "core/decoder/captures.h"
#include "core/plan/attention_plan.h"
#include "core/run/what_if_pair.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/deep_decoder.h"
#include "tests/core/support/embedded_decoder.h"

namespace midscope {
namespace {

constexpr double kLogitTolerance = 1e-3;
constexpr double kAttentionTolerance = 1e-4;

// The second and the third begin as the first does, for so many tokens.
constexpr int64_t kAlikeTokens[] = {0, 40, 70};

std::vector<Prompt> SomePrompts(const Decoder& decoder) {
  std::vector<Prompt> prompts(3);
  const int64_t lengths[] = {90, 61, 90};
  for (size_t i = 0; i < prompts.size(); ++i) {
    prompts[i].ids = testing::SomeIds(decoder, lengths[i], i + 1);
    std::copy_n(prompts[0].ids.begin(), kAlikeTokens[i], prompts[i].ids.begin());
    prompts[i].answer_ids = testing::SomeIds(decoder, i == 1 ? 1 : 4, 50 + i);
  }
  return prompts;
}

WhatIfOutcome OutcomeInFull(const Decoder& decoder, const Prompt& prompt,
                            const std::string& setting) {
  LastQueryAttention attention(decoder.config());
  const std::vector<int32_t> ids = IdsToScore(prompt.ids, prompt.answer_ids);
  RunRequest request;
  request.ids = ids;
  request.prompt_tokens = static_cast<int64_t>(prompt.ids.size());
  request.intervention = ParseIntervention(setting);
  PositionAwareness awareness(decoder.config(), AwarenessRule(request.intervention));
  request.hooks = {&attention, &awareness};
  const RunResult result = decoder.RunOne(request);
  WhatIfOutcome outcome;
  outcome.last_query_attention = attention.attention();
  outcome.position_ratio = result.position_ratio;
  outcome.position_awareness = awareness.score();
  outcome.counted_keys = awareness.counted_keys(AwarenessRule(request.intervention));
  const auto logits = result.Logits(request.prompt_tokens - 1);
  outcome.last_logits.assign(logits.begin(), logits.end());
  outcome.score = ScoreAnswer(result, request.prompt_tokens, prompt.answer_ids);
  return outcome;
}

void ExpectEqual(const WhatIfOutcome& actual, const WhatIfOutcome& expected,
                 const std::string& setting) {
  double logit_difference = 0;
  for (size_t i = 0; i < expected.last_logits.size(); ++i) {
    logit_difference = std::max(logit_difference,
                                std::abs(double{actual.last_logits[i]} - expected.last_logits[i]));
  }
  EXPECT_LE(logit_difference, kLogitTolerance) << setting;
  ASSERT_EQ(actual.last_query_attention.size(), expected.last_query_attention.size());
  double attention_difference = 0;
  for (size_t i = 0; i < expected.last_query_attention.size(); ++i) {
    attention_difference = std::max(
        attention_difference,
        std::abs(double{actual.last_query_attention[i]} - expected.last_query_attention[i]));
  }
  EXPECT_LE(attention_difference, kAttentionTolerance) << setting;
  EXPECT_EQ(actual.position_ratio.values, expected.position_ratio.values) << setting;
  EXPECT_NEAR(actual.score.nll, expected.score.nll, 2e-3) << setting;
  if (actual.position_awareness.empty()) return;  // not requested
  // The score is the share of the counted keys.
  const size_t heads = actual.position_awareness.size();
  ASSERT_EQ(actual.counted_keys.size(), expected.counted_keys.size());
  const size_t keys = actual.counted_keys.size() / heads;
  for (size_t head = 0; head < heads; ++head) {
    const auto first = actual.counted_keys.begin() + static_cast<std::ptrdiff_t>(head * keys);
    const auto count = std::count(first, first + static_cast<std::ptrdiff_t>(keys), 1);
    ASSERT_EQ(actual.position_awareness[head],
              static_cast<float>(static_cast<double>(count) / static_cast<double>(keys)))
        << setting;
  }
  ASSERT_EQ(actual.position_awareness.size(), expected.position_awareness.size());
  // Counts of keys: one may be within rounding of the threshold.
  const double one_key = 1.01 * static_cast<double>(expected.position_awareness.size()) /
                         static_cast<double>(expected.last_query_attention.size());
  for (size_t i = 0; i < expected.position_awareness.size(); ++i) {
    ASSERT_NEAR(actual.position_awareness[i], expected.position_awareness[i], one_key) << setting;
  }
}

// Each line follows the one before on the same trace.
const std::vector<std::string>& Settings() {
  static const std::vector<std::string> settings = {
      "none",
      "channel(100, factor=-1, layers=8-25)",
      "channel(100, factor=0.3, layers=8-25)",
      "channel([100,215], factor=[-1,0], layers=12-20)",
      "channel(100, factor=-1, layers=8-25, rows=last)",
      "channel(100, factor=0.5, layers=20-29, rows=last:7)",
      "channel(100, factor=0.5, layers=20-29, rows=all)",
      "channel(100, factor=0.5, layers=20-29, rows=all, change_value=yes)",
      "channel(100, factor=-1, layers=8-25, change_value=yes)",
      "channel(100, factor=-1, layers=8-25) + channel(7, factor=2, layers=20, change_value=yes)",
      "none",
      "pi(1.3)",
      "pi(1.3) + channel(100, factor=-1, layers=8-25)",
      "ms-poe(min=1.2, max=1.8)",
      "ms-poe(min=1.2, max=1.8) + channel(100, factor=-1, layers=8-25)",
      "ms-poe(min=1.2, max=1.8) + channel(100, factor=0, layers=8-25)",
      "ms-poe(min=1.2, max=1.6, mode=group, first_layer=20)",
      "ms-poe(min=1.2, max=1.8, mode=code)",
      "ms-poe(alpha=1.5)",
      "ms-poe(order=reversed, alpha=0.5)",
      "positions(sampler=pose, factor=4)",
      "positions(sampler=pose, factor=4) + channel(100, factor=-1, layers=8-25)",
      "pi(2) + positions(sampler=randpos, seed=3)",
      "ms-poe(alpha=2) + positions(sampler=randpos, seed=3)",
      "self-extend(group=3, window=20) + positions(sampler=cream, factor=4)",
      "infini(segment=32, gate=0.2) + positions(sampler=cream, factor=4)",
      "ms-poe(order=reversed) + channel(100, factor=-1, layers=8-25)",
      "ms-poe(order=reversed) + channel(100, factor=2, layers=8-25)",
      "ms-poe(order=entropy) + channel(100, factor=2, layers=8-25)",
      "ms-poe(order=entropy) + channel(100, factor=-1, layers=8-25)",
      "yarn(4, form=cream)",
      "nope(layers=28-29)",
      "none",
      "boost(span=20:30, factor=2)",
      "move(span=20:30, to=shift:-15) + channel(100, factor=-1, layers=8-25)",
      "ms-poe(first_layer=9) + move(span=20:30, to=shift:25, rows=all)",
      "crop(span=20:30, layers=0-7)",
      "crop(span=20:30, layers=0-7) + ablate([L12H3,L20G1], with=mean, rows=answer)",
      "ablate([L12H3,L20G1], with=mean, rows=last) + boost(span=3:9, factor=3, renormalise=yes)",
      "temperature(L20H1, 2, rows=last:9)",
      "self-extend(group=3, window=20)",
      "self-extend(group=3, window=20) + channel(100, factor=-1, layers=8-25)",
      "self-extend(group=5, window=20) + channel(100, factor=-1, layers=8-25)",
      "self-extend(group=5, window=20, scale_base=40)",
      "eabf(100000, context=40) + channel(100, factor=-1, layers=8-25)",
      "eabf(100000, context=30) + channel(100, factor=-1, layers=8-25)",
      "infini(segment=32, gate=0.2)",
      "infini(segment=32, gate=0.3, update=delta) + channel(100, factor=0, layers=8-9, rows=last)",
  };
  return settings;
}

TEST(WhatIf, ASettingOfLateRowsCostsThemAfterAScheme) {
  const auto decoder = testing::DeepDecoder();
  const std::vector<Prompt> prompts = SomePrompts(*decoder);
  WhatIfPair pair(decoder, prompts, 0, /*position_awareness=*/true);
  pair.Evaluate({});
  const std::string late = "boost(span=20:30, factor=2, rows=last)";
  for (const std::string& setting :
       {std::string("pi(1.3)"), late, std::string("pi(1.3) + channel(100, factor=-1, layers=8-25)"),
        std::string("none"), std::string("channel(100, factor=-1, layers=8-25)")}) {
    const WhatIfResult result = pair.Evaluate(ParseIntervention(setting));
    EXPECT_EQ(result.last_rows_only, setting != "pi(1.3)") << setting;
    for (size_t i = 0; i < prompts.size(); ++i) {
      ExpectEqual(result.outcomes[i], OutcomeInFull(*decoder, prompts[i], setting), setting);
    }
  }
  // With one trace the scheme's has to be run anew.
  WhatIf single(decoder, prompts);
  for (const char* setting : {"none", "ms-poe"}) single.Evaluate(ParseIntervention(setting));
  EXPECT_FALSE(single.Evaluate(ParseIntervention(late)).last_rows_only);
  // With memory for one only, one is kept, and results are the same.
  WhatIfPair small(decoder, prompts, pair.Evaluate({}).kept.bytes / 3);
  for (const std::string& setting : {std::string("none"), std::string("ms-poe"), late}) {
    const WhatIfResult result = small.Evaluate(ParseIntervention(setting));
    EXPECT_LE(result.kept.bytes, result.kept.limit);
    for (size_t i = 0; i < prompts.size(); ++i) {
      ExpectEqual(result.outcomes[i], OutcomeInFull(*decoder, prompts[i], setting), setting);
    }
  }
}

TEST(WhatIf, EveryChangeEqualsAFullRun) {
  const auto decoder = testing::DeepDecoder();
  WhatIf what_if(decoder, SomePrompts(*decoder), 0, /*position_awareness=*/true);
  std::vector<float> plain;
  for (const std::string& setting : Settings()) {
    const WhatIfResult result = what_if.Evaluate(ParseIntervention(setting));
    for (size_t i = 0; i < what_if.prompts().size(); ++i) {
      ExpectEqual(result.outcomes[i], OutcomeInFull(*decoder, what_if.prompts()[i], setting),
                  setting);
    }
    if (plain.empty()) plain = result.outcomes[0].last_logits;
    if (setting == "none") continue;
    EXPECT_GT(test::Difference(result.outcomes[0].last_logits, plain), 10 * kLogitTolerance)
        << setting;
  }
}

// The common beginning of prompts is run once, where nothing behind it affects it.
TEST(WhatIf, PromptsThatBeginAlikeShareTheirRows) {
  const auto decoder = testing::DeepDecoder();
  const auto share = [&](const std::string& setting, int64_t memory_limit = 0) {
    WhatIf what_if(decoder, SomePrompts(*decoder), memory_limit);
    return what_if.Evaluate(ParseIntervention(setting)).share;
  };
  const double all = 93 + 61 + 93;
  const double spared = kAlikeTokens[1] + kAlikeTokens[2];
  for (const char* setting : {"none", "pi(1.3)", "channel(100, factor=-1, layers=8-25)",
                              "crop(span=20:30)", "self-extend(group=3, window=20)",
                              "ms-poe(order=sequential)", "move(span=20:30, to=shift:9)"}) {
    EXPECT_DOUBLE_EQ(share(setting), 1 - spared / all) << setting;
  }
  for (const char* setting : {"ms-poe()", "infini(segment=32)", "ablate(L12H3, with=mean)"}) {
    EXPECT_DOUBLE_EQ(share(setting), 1) << setting;
  }
  // The second prompt is shorter, so that other rows of it are scaled; of the third the same.
  EXPECT_DOUBLE_EQ(share("channel(100, factor=0, rows=last:60)"), 1 - kAlikeTokens[2] / all);
  EXPECT_DOUBLE_EQ(share("none", 1), 1);  // nowhere to take rows from
}

TEST(WhatIf, ChannelChangeRunsTheLastRowsAlone) {
  const auto decoder = testing::DeepDecoder();
  WhatIf what_if(decoder, SomePrompts(*decoder));
  EXPECT_FALSE(what_if.Evaluate({}).last_rows_only);
  const WhatIfResult changed =
      what_if.Evaluate(ParseIntervention("channel(100, factor=-1, layers=8-25)"));
  EXPECT_TRUE(changed.last_rows_only);
  EXPECT_EQ(changed.first_layer, 8);
  const WhatIfResult scheme = what_if.Evaluate(ParseIntervention("ms-poe(first_layer=11)"));
  EXPECT_FALSE(scheme.last_rows_only);
  EXPECT_EQ(scheme.first_layer, 8);  // the channel's layers go back to what they were
}

TEST(WhatIf, AttentionRowsThatWereLeftOutAreMadeUpFor) {
  const auto decoder = testing::DeepDecoder();
  WhatIf what_if(decoder, SomePrompts(*decoder));
  const std::string setting = "channel(100, factor=-1, layers=8-25)";
  what_if.Evaluate({});
  const WhatIfResult without = what_if.Evaluate(ParseIntervention(setting), {}, false);
  EXPECT_TRUE(without.outcomes[0].last_query_attention.empty());
  // Lower layers' rows, too, which this setting leaves as they were.
  EXPECT_EQ(what_if.Estimate(ParseIntervention(setting)).share, 0);
  const WhatIfResult with = what_if.Evaluate(ParseIntervention(setting));
  EXPECT_TRUE(with.last_rows_only);
  for (size_t i = 0; i < with.outcomes.size(); ++i)
    ExpectEqual(with.outcomes[i], OutcomeInFull(*decoder, what_if.prompts()[i], setting), setting);
  // They are there now.
  EXPECT_EQ(what_if.Evaluate(ParseIntervention(setting)).share, 0);
}

int64_t BytesOf(const Decoder& decoder, const std::vector<Prompt>& prompts) {
  int64_t bytes = 0;
  for (const Prompt& prompt : prompts) {
    bytes +=
        decoder.TraceBytes(static_cast<int64_t>(IdsToScore(prompt.ids, prompt.answer_ids).size()));
  }
  return bytes;
}

TEST(WhatIf, AMemoryLimitDropsTheLowestLayersAndNoMoreThanNeeded) {
  const auto decoder = testing::DeepDecoder();
  const std::vector<Prompt> prompts = SomePrompts(*decoder);
  const int64_t limit = BytesOf(*decoder, prompts) / 2;
  WhatIf what_if(decoder, prompts, limit);
  const int64_t first_kept = what_if.Evaluate({}).kept.first_layer;
  EXPECT_GT(first_kept, 12);
  EXPECT_LT(first_kept, 18);
  // Above them as ever: the last rows alone. In them: all rows of the dropped layers, the last rows
  // of the others.
  for (const std::string setting :
       {"channel(100, factor=-1, layers=20-25)", "channel(100, factor=-1, layers=3-4)",
        "crop(span=20:30, layers=0-7)", "ms-poe(max=1.5, first_layer=20)", "none"}) {
    const WhatIfResult result = what_if.Evaluate(ParseIntervention(setting));
    EXPECT_LE(result.kept.bytes, limit);
    EXPECT_EQ(result.kept.limit, limit);
    EXPECT_EQ(result.kept.first_layer, first_kept);
    if (setting == "channel(100, factor=-1, layers=20-25)") {
      EXPECT_EQ(result.first_layer, 20);
      EXPECT_TRUE(result.last_rows_only);
    } else if (setting == "channel(100, factor=-1, layers=3-4)") {
      EXPECT_EQ(result.first_row, 0);
      EXPECT_LT(result.share, 0.6);
    }
    for (size_t i = 0; i < prompts.size(); ++i)
      ExpectEqual(result.outcomes[i], OutcomeInFull(*decoder, prompts[i], setting), setting);
  }
}

TEST(WhatIf, WithoutRoomForALayerEveryRunIsFullAndAgrees) {
  const auto decoder = testing::DeepDecoder();
  WhatIf what_if(decoder, SomePrompts(*decoder), 1);
  EXPECT_EQ(what_if.trace(0), nullptr);
  what_if.Evaluate({});
  const std::string setting = "channel(100, factor=-1, layers=8-25)";
  const WhatIfResult result = what_if.Evaluate(ParseIntervention(setting));
  EXPECT_EQ(result.share, 1);
  EXPECT_EQ(result.kept.bytes, 0);
  EXPECT_EQ(result.kept.first_layer, decoder->config().layers);
  for (size_t i = 0; i < 3; ++i)
    ExpectEqual(result.outcomes[i], OutcomeInFull(*decoder, what_if.prompts()[i], setting),
                setting);
}

// Sums of ablated heads are kept too, so they count.
TEST(WhatIf, MeansOfHeadsCountAgainstTheLimit) {
  const auto decoder = testing::DeepDecoder();
  const std::vector<Prompt> prompts = SomePrompts(*decoder);
  WhatIf unlimited(decoder, prompts);
  const int64_t plain = unlimited.Evaluate({}).kept.bytes;
  EXPECT_EQ(plain, BytesOf(*decoder, prompts));
  const std::string means = "ablate([L20H3,L21G1], with=mean)";
  EXPECT_EQ(unlimited.Evaluate(ParseIntervention(means)).kept.bytes,
            plain + int64_t{93 + 61 + 93} * 4 * decoder->config().head_dim * 8);
  EXPECT_EQ(unlimited.Evaluate({}).kept.bytes, plain);  // and go with them

  WhatIf limited(decoder, prompts, plain);
  EXPECT_EQ(limited.Evaluate({}).kept.first_layer, 0);
  const WhatIfResult result = limited.Evaluate(ParseIntervention(means));
  EXPECT_GT(result.kept.first_layer, 0);
  EXPECT_LE(result.kept.bytes, plain);
  for (size_t i = 0; i < prompts.size(); ++i)
    ExpectEqual(result.outcomes[i], OutcomeInFull(*decoder, prompts[i], means), means);
}

TEST(WhatIf, RowsBeforeTheFirstThatChangesAreNotRun) {
  const auto decoder = testing::DeepDecoder();
  WhatIf what_if(decoder, SomePrompts(*decoder));
  what_if.Evaluate({});
  const auto first_row = [&](const std::string& setting) {
    const WhatIfResult result = what_if.Evaluate(ParseIntervention(setting));
    what_if.Evaluate({});
    return std::pair(result.first_layer, result.first_row);
  };
  EXPECT_EQ(first_row("crop(span=40:50, layers=3-7)"), std::pair(int64_t{3}, int64_t{40}));
  EXPECT_EQ(first_row("move(span=30:50, to=shift:2, rows=all, layers=5)"),
            std::pair(int64_t{5}, int64_t{30}));
  EXPECT_EQ(first_row("boost(span=7:9, rows=last:3, layers=9)"),
            std::pair(int64_t{9}, int64_t{58}));
  EXPECT_EQ(first_row("channel(100, factor=0, layers=8, rows=last:16)"),
            std::pair(int64_t{8}, int64_t{45}));
  EXPECT_EQ(first_row("none").first, decoder->config().layers);
}

// A run cancelled at any layer leaves nothing behind that a later one would mistake for its own.
TEST(WhatIf, CancelledRunsDoNotSpoilLaterOnes) {
  const auto decoder = testing::DeepDecoder();
  WhatIf what_if(decoder, SomePrompts(*decoder));
  what_if.Evaluate({});
  for (const int64_t stop : {0, 9, 17, 28}) {
    for (const char* setting :
         {"pi(1.7)", "channel(100, factor=-1, layers=2-25)", "ms-poe(first_layer=5)"}) {
      std::atomic<bool> cancel{false};
      JobContext context;
      context.cancel = &cancel;
      context.progress = [&](const Progress& progress) {
        cancel = cancel || progress.done >= stop + 1;
      };
      EXPECT_THROW(what_if.Evaluate(ParseIntervention(setting), context), Cancelled)
          << setting << " " << stop;
      const std::string next = "channel(100, factor=0, layers=8-25)";
      ExpectEqual(what_if.Evaluate(ParseIntervention(next)).outcomes[0],
                  OutcomeInFull(*decoder, what_if.prompts()[0], next), next);
    }
  }
}

TEST(WhatIf, RowsBeforeTheLastAreUnchangedByChannelScaling) {
  const auto decoder = testing::DeepDecoder();
  WhatIf what_if(decoder, SomePrompts(*decoder));
  what_if.Evaluate({});
  const std::vector<float> before = what_if.trace(0)->Channel(30, 100);
  what_if.Evaluate(ParseIntervention("channel(100, factor=-1, layers=8-25)"));
  const std::vector<float> after = what_if.trace(0)->Channel(30, 100);
  const size_t last = what_if.prompts()[0].ids.size() - 1;
  for (size_t row = 0; row < last; ++row) ASSERT_EQ(before[row], after[row]) << row;
  EXPECT_NE(before[last], after[last]);
}

}  // namespace
}  // namespace midscope
