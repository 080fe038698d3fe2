// SPDX-License-Identifier: MIT
// Position schemes that apply to only some rows, on tiny models with grouped key heads and both
// kinds of operations, compared with transformers' models with attention on whole matrices
// (make_scheme_rows_golden.py); rows without the scheme, and schemes on all rows, are equal bit for
// bit; what-if and token-by-token runs compared with full ones. Tolerances as in families_test:
// logits 1e-4 of the largest, attention 1e-5.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/run/what_if.h"
#include "core/terms/terms.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"

namespace midscope {
namespace {

using test::Difference;
using test::GoldenRun;
using Json = nlohmann::json;

const test::GoldenFile& SchemeRowsGolden() {
  static const test::GoldenFile golden("scheme_rows_golden.json");
  return golden;
}

// The settings of a model's cases.
std::vector<std::string> SettingsOf(const std::string& model) {
  std::vector<std::string> settings;
  for (const Json& item : SchemeRowsGolden()["cases"]) {
    if (item["model"] == model) settings.push_back(item["setting"]);
  }
  return settings;
}

// Every scheme that lets rows be chosen, as its example has it, that the model takes.
std::vector<Intervention> EveryScheme(const ModelConfig& config) {
  std::vector<Intervention> settings;
  for (const TermType& type : TermTypes()) {
    if (!type.with_rows) continue;
    settings.push_back(type.sample ? type.sample(config) : ParseIntervention(type.small_example));
  }
  return settings;
}

TEST(SchemeRows, AreThoseOfThePlainComputation) {
  ASSERT_GE(SchemeRowsGolden()["cases"].size(), 31u);
  test::ExpectEveryCase(SchemeRowsGolden(), {"cpu", "cpu:portable"});
}

// Rows before the chosen ones are those of `none` and change nothing to the last bit; the chosen
// ones differ from those of the scheme in every row.
TEST(SchemeRows, LeaveOtherRowsAlone) {
  const GoldenRun plain = SchemeRowsGolden().FullRun("llama", "none");
  const std::map<std::string, int64_t> first = {{"last", 39}, {"answer", 39}, {"last:6", 34}};
  for (Intervention setting : EveryScheme(SchemeRowsGolden().Model("llama")->config())) {
    const GoldenRun in_all = SchemeRowsGolden().FullRun("llama", setting);
    for (const auto& [rows, changed] : first) {
      setting = WithPositionSchemeRows(
          setting, PositionSchemeRows(ParseIntervention("pi(1.5, rows=" + rows + ")")));
      const GoldenRun run = SchemeRowsGolden().FullRun("llama", setting);
      // A prompt within the trained context leaves dynamic schemes nothing to change.
      // One row alone is computed by another kernel, so that it may differ in rounding.
      if (Difference(in_all.result.logits, plain.result.logits) == 0) {
        EXPECT_LE(Difference(run.result.logits, plain.result.logits), 1e-5);
        continue;
      }
      EXPECT_EQ(test::FirstDifferentRow(run, plain), changed)
          << PositionSchemeName(setting) << " " << rows;
      EXPECT_GT(Difference(run.result.Logits(39), in_all.result.Logits(39)), 0)
          << PositionSchemeName(setting) << " " << rows;
    }
  }
}

// last:N with every row of the prompt is the scheme for all rows, within rounding; rows=all is it
// to the last bit.
TEST(SchemeRows, AllRowsAreTheSchemeItself) {
  for (const Intervention& setting : EveryScheme(SchemeRowsGolden().Model("qwen3")->config())) {
    const GoldenRun all = SchemeRowsGolden().FullRun("qwen3", setting);
    Intervention stated = WithPositionSchemeRows(setting, {ChannelRows::kAll});
    EXPECT_EQ(SchemeRowsGolden().FullRun("qwen3", stated).result.logits, all.result.logits);
    stated = WithPositionSchemeRows(setting, {ChannelRows::kLastN, 40});
    EXPECT_EQ(SchemeRowsGolden().FullRun("qwen3", stated).result.logits, all.result.logits)
        << PositionSchemeName(setting);
  }
}

TEST(SchemeRows, WhatIfEqualsAFullRun) {
  for (const char* model : {"llama", "gemma2"}) {
    std::vector<Intervention> settings = {{}};
    int64_t turn = 0;
    for (const std::string& text : SettingsOf(model)) {
      settings.push_back(ParseIntervention(text));
      // Edits of the same rows, of the layer below, and of earlier rows.
      const std::vector<std::string> with = {
          "channel(3, factor=-1, change_value=yes)",
          "boost(span=20:30, factor=2, layers=0)",
          "crop(span=20:30, layers=0)",
          "move(span=20:30, to=shift:-3, rows=last:3)",
          "ablate(L0H1, with=mean, rows=answer)",
          "temperature(L0H2, 1.7, rows=last:9)",
      };
      for (int64_t i = 0; i < 3; ++i) {
        const std::string& edit = with[static_cast<size_t>(turn++) % with.size()];
        const bool refused = text.starts_with("self-extend") && edit.starts_with("move");
        std::string stack = text;
        if (!refused) stack.append(" + ").append(edit);
        settings.push_back(ParseIntervention(stack));
      }
      if (settings.size() % 3 == 0) settings.emplace_back();
      // The scheme, applied to other rows.
      settings.push_back(ParseIntervention(text));
      settings.back() = WithPositionSchemeRows(settings.back(), {ChannelRows::kLastN, 3});
      settings.push_back(WithPositionSchemeRows(settings.back(), {ChannelRows::kAll}));
    }
    test::ExpectWhatIfEqualsFullRuns(SchemeRowsGolden().Model(model),
                                     *SchemeRowsGolden().Model(model), model,
                                     SchemeRowsGolden().answer(), settings);
  }
}

TEST(SchemeRows, EverySchemeAfterAnyOther) {
  const auto decoder = SchemeRowsGolden().Model("llama");
  std::vector<Intervention> settings;
  for (const ChannelRows rows : {ChannelRows::kLast, ChannelRows::kAnswer}) {
    for (const Intervention& setting : EveryScheme(decoder->config())) {
      settings.push_back(WithPositionSchemeRows(setting, {rows}));
      if (settings.size() % 4 == 0) settings.emplace_back();
    }
  }
  test::ExpectWhatIfEqualsFullRuns(decoder, *decoder, "llama", SchemeRowsGolden().answer(),
                                   settings);
}

// What-if runs one row per change, from the first changed layer on, whatever the ratios were.
TEST(SchemeRows, ARatioCostsOneRow) {
  Prompt prompt;
  prompt.ids = test::PromptIds("qwen3");
  WhatIf what_if(SchemeRowsGolden().Model("qwen3"), {prompt});
  what_if.Evaluate({});
  for (const char* setting :
       {"ms-poe(min=1.2, max=1.8, first_layer=0, rows=last)",
        "ms-poe(min=1.2, max=1.6, first_layer=0, rows=last)", "pi(1.5, rows=last)",
        "self-extend(group=2, window=4, rows=answer)", "nope(layers=1, rows=last)"}) {
    const WhatIfResult result = what_if.Evaluate(ParseIntervention(setting));
    EXPECT_TRUE(result.last_rows_only) << setting;
    EXPECT_EQ(result.first_row, 39) << setting;
  }
}

// Ratios come from the scores that the model's own rows give, so that they are those of `none`; the
// scheme in all rows changes what later layers are scored by.
TEST(SchemeRows, RatiosAreOfTheRowsAsTheyAreRead) {
  const GoldenRun last =
      SchemeRowsGolden().FullRun("qwen3", "ms-poe(min=1, max=9, first_layer=0, rows=last)");
  const GoldenRun all = SchemeRowsGolden().FullRun("qwen3", "ms-poe(min=1, max=9, first_layer=0)");
  const auto first_layer = [](const GoldenRun& run) {
    const auto& values = run.result.position_ratio.values;
    return std::vector<double>(values.begin(), values.begin() + 6);
  };
  EXPECT_EQ(first_layer(last), first_layer(all));
  EXPECT_NE(last.last_attention, all.last_attention);
}

TEST(SchemeRows, TokenByTokenEqualsAFullRun) {
  test::ExpectEveryCaseTokenByToken(SchemeRowsGolden());
}

TEST(SchemeRows, InfiniAttentionIsRefusedByName) {
  EXPECT_THAT(test::ErrorMessage([] { ParseIntervention("infini(segment=64, rows=last)"); }),
              ::testing::HasSubstr("'infini' has no argument 'rows'"));
}

}  // namespace
}  // namespace midscope
