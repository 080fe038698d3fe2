// SPDX-License-Identifier: MIT
// Properties of position ids that apply to only some rows; positions_test.cpp compares their
// numbers with transformers. Other rows equal those of a run without ids bit for bit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/run/what_if.h"
#include "core/terms/terms.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"

namespace midscope {
namespace {

using test::Difference;
using test::GoldenRun;
using ::testing::HasSubstr;

const test::GoldenFile& PositionIdRowsGolden() {
  static const test::GoldenFile golden("positions_golden.json", {.beyond_context = true});
  return golden;
}

std::string Ids(const std::string& rows) {
  return "positions(sampler=pose, factor=3, seed=2, rows=" + rows + ")";
}

TEST(PositionIdRows, OtherRowsAreThoseWithoutIds) {
  for (const char* model : {"llama", "qwen3", "gemma2"}) {
    const GoldenRun plain = PositionIdRowsGolden().FullRun(model, "none");
    for (const auto& [rows, first] :
         {std::pair("last", 39), std::pair("answer", 39), std::pair("last:6", 34)}) {
      EXPECT_EQ(test::FirstDifferentRow(PositionIdRowsGolden().FullRun(model, Ids(rows)), plain),
                first)
          << model << " " << rows;
    }
    const GoldenRun all =
        PositionIdRowsGolden().FullRun(model, "positions(sampler=pose, factor=3, seed=2)");
    EXPECT_EQ(PositionIdRowsGolden().FullRun(model, Ids("last:40")).result.logits,
              all.result.logits)
        << model;
    EXPECT_GT(Difference(all.result.Logits(39),
                         PositionIdRowsGolden().FullRun(model, Ids("last")).result.Logits(39)),
              1e-3)
        << model;
  }
}

// The frequencies of a model that scales by length are those of the tokens' number where no ids are
// seen, and of the largest id + 1 where they are.
TEST(PositionIdRows, OwnFrequenciesAreOfTheNumberOfTokens) {
  ModelConfig config = PositionIdRowsGolden().Model("llama")->config();
  config.rope_scaling.kind = RopeScalingKind::kDynamic;
  config.rope_scaling.factor = 2;
  config.trained_context = 64;
  const auto plans = CompilePlans(ParseIntervention(Ids("last")), config, 40);
  ASSERT_TRUE(plans[0].scheme_rows);
  EXPECT_EQ(plans[0].scheme_rows->own_inverse_frequency,
            CompilePlans({}, config, 40)[0].inverse_frequency);
  EXPECT_NE(plans[0].scheme_rows->own_inverse_frequency, plans[0].inverse_frequency);
}

TEST(PositionIdRows, WhatIfEqualsAFullRun) {
  for (const char* model : {"llama", "gemma2"}) {
    std::vector<Intervention> settings;
    for (const std::string& text :
         {std::string("none"), Ids("last"), Ids("last:6"), Ids("all"), "pi(1.5) + " + Ids("all"),
          "pi(1.5, rows=last) + " + Ids("last"), "pi(1.5, rows=last) + " + Ids("all"),
          "ms-poe(min=1.2, max=1.8, first_layer=0, rows=answer) + " + Ids("answer"),
          Ids("last") + " + channel(3, factor=-1)",
          Ids("last:9") + " + move(span=20:30, to=shift:-3, rows=last:3)",
          Ids("answer") + " + boost(span=20:30, factor=2, layers=0)", std::string("none"),
          Ids("answer")}) {
      settings.push_back(ParseIntervention(text));
    }
    test::ExpectWhatIfEqualsFullRuns(PositionIdRowsGolden().Model(model),
                                     *PositionIdRowsGolden().Model(model), model,
                                     PositionIdRowsGolden().answer(), settings);
  }
}

TEST(PositionIdRows, TheLastRowCostsOneRow) {
  Prompt prompt;
  prompt.ids = test::PromptIds("qwen3");
  WhatIf what_if(PositionIdRowsGolden().Model("qwen3"), {prompt});
  what_if.Evaluate({});
  const WhatIfResult result = what_if.Evaluate(ParseIntervention(Ids("last")));
  EXPECT_TRUE(result.last_rows_only);
  EXPECT_EQ(result.first_row, 39);
}

TEST(PositionIdRows, TokenByTokenEqualsAFullRun) {
  for (const std::string rows : {"last", "answer", "last:6"}) {
    const Intervention setting = ParseIntervention(Ids(rows));
    test::ExpectStepsEqual(*PositionIdRowsGolden().Model("llama"), "llama",
                           PositionIdRowsGolden().answer(), setting, {},
                           PositionIdRowsGolden().FullRun("llama", setting), rows);
  }
}

TEST(PositionIdRows, PrintAndRead) {
  EXPECT_EQ(PrintIntervention(ParseIntervention(Ids("all"))),
            PrintIntervention(ParseIntervention("positions(sampler=pose, factor=3, seed=2)")));
  const std::string printed = PrintIntervention(ParseIntervention(Ids("last:6")));
  EXPECT_THAT(printed, HasSubstr("rows=last:6"));
  EXPECT_EQ(ParseIntervention(printed), ParseIntervention(Ids("last:6")));
}

// A row would see the scheme's positions and not the ids, or one of two sets of rows.
TEST(PositionIdRows, OtherRowsThanTheSchemesAreRefused) {
  for (const std::string& text : {"pi(1.5) + " + Ids("last"), "pi(2, rows=answer) + " + Ids("last"),
                                  "infini(segment=16) + " + Ids("last")}) {
    EXPECT_THAT(test::ErrorMessage([&] {
                  CompilePlans(ParseIntervention(text),
                               PositionIdRowsGolden().Model("llama")->config(), 40);
                }),
                HasSubstr("Give both the same rows"))
        << text;
  }
}

}  // namespace
}  // namespace midscope
