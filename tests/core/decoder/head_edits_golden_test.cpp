// SPDX-License-Identifier: MIT
// Boosts, knockouts and streaming masks of chosen heads on tiny models, most with grouped key
// heads, with both kinds of operations, compared with transformers' models with attention on whole
// matrices (make_head_edits_golden.py); what-if and token-by-token runs compared with full ones.
// Tolerances as in families_test: logits 1e-4 of the largest, attention 1e-5.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/run/what_if.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"

namespace midscope {
namespace {

using test::Describe;
using test::Difference;
using test::GoldenRun;
using test::kGoldenLogitTolerance;
using test::Largest;
using ::testing::HasSubstr;
using Json = nlohmann::json;

const test::GoldenFile& HeadEditsGolden() {
  static const test::GoldenFile golden("head_edits_golden.json");
  return golden;
}

TEST(HeadEdits, AreThoseOfThePlainComputation) {
  ASSERT_GE(HeadEditsGolden()["cases"].size(), 36u);
  test::ExpectEveryCase(HeadEditsGolden(), {"cpu", "cpu:portable"});
}

// By far more than the tolerance.
TEST(HeadEdits, EachChangesSomething) {
  for (const Json& item : HeadEditsGolden()["cases"]) {
    const GoldenRun plain = HeadEditsGolden().FullRun(item["model"], "none");
    const GoldenRun changed = HeadEditsGolden().FullRun(item["model"], item["setting"]);
    EXPECT_GE(Difference(changed.result.Logits(39), plain.result.Logits(39)),
              10 * kGoldenLogitTolerance * Largest(plain.result.Logits(39)))
        << Describe(item);
  }
}

// Each setting follows others on one trace, alone and with other terms.
TEST(HeadEdits, WhatIfEqualsAFullRun) {
  const std::vector<std::string> with = {
      "channel(3, factor=-1, change_value=yes)",
      "crop(span=20:30, layers=0)",
      "ablate(L0H*, with=mean, rows=answer)",
      "temperature(L1H0-1, 1.7, rows=last:9)",
  };
  for (const char* model : {"llama", "gemma2", "mpt"}) {
    std::vector<Intervention> settings = {{}};
    size_t turn = 0;
    for (const Json& item : HeadEditsGolden()["cases"]) {
      if (item["model"] != model) continue;
      const std::string setting = item["setting"];
      settings.push_back(ParseIntervention(setting));
      for (int i = 0; i < 2; ++i)
        settings.push_back(ParseIntervention(setting + " + " + with[turn++ % with.size()]));
      if (model != std::string("mpt"))
        settings.push_back(ParseIntervention("pi(1.5, rows=last) + " + setting));
      if (settings.size() % 3 == 0) settings.emplace_back();
    }
    test::ExpectWhatIfEqualsFullRuns(HeadEditsGolden().Model(model),
                                     *HeadEditsGolden().Model(model), model,
                                     HeadEditsGolden().answer(), settings);
  }
}

TEST(HeadEdits, TokenByTokenEqualsAFullRun) {
  test::ExpectEveryCaseTokenByToken(HeadEditsGolden());
}

TEST(HeadEdits, LeaveOtherRowsAlone) {
  const GoldenRun plain = HeadEditsGolden().FullRun("llama", "none");
  const auto same_until = [&](const std::string& setting) {
    return test::FirstDifferentRow(HeadEditsGolden().FullRun("llama", setting), plain);
  };
  EXPECT_EQ(same_until("block(from=last, to=10:17)"), 39);
  EXPECT_EQ(same_until("block(from=20:25, to=10:17, heads=L0H1)"), 20);
  EXPECT_EQ(same_until("block(from=10:17, to=20:25)"), 44);  // what is later is not seen anyway
  EXPECT_EQ(same_until("streaming(heads=L0H1, sink=1, recent=43)"), 44);
  EXPECT_EQ(same_until("boost(span=30:37, factor=2, heads=L1H3)"), 39);
}

TEST(HeadEdits, WhatIfRunsTheRowsThatChange) {
  Prompt prompt;
  prompt.ids = test::PromptIds("llama");
  WhatIf what_if(HeadEditsGolden().Model("llama"), {prompt});
  const auto first_row = [&](const std::string& setting) {
    what_if.Evaluate({});
    return what_if.Evaluate(ParseIntervention(setting)).first_row;
  };
  EXPECT_EQ(first_row("block(from=last, to=10:17)"), 39);
  EXPECT_EQ(first_row("block(from=15:30, to=10:17)"), 15);
  EXPECT_EQ(first_row("block(from=all, to=10:17)"), 11);
  EXPECT_EQ(first_row("streaming(sink=2, recent=8)"), 10);
  EXPECT_EQ(first_row("streaming(sink=2, recent=8, rows=last)"), 39);
}

// A group is all heads that read a key head; ranges and `all` equal the heads that they include.
TEST(HeadEdits, HeadsAreTheSameByAnyName) {
  const auto logits = [](const std::string& heads) {
    return HeadEditsGolden().FullRun("llama", "ablate(" + heads + ", rows=answer)").result.logits;
  };
  EXPECT_EQ(logits("L1G1"), logits("L1H2-3"));
  EXPECT_EQ(logits("L1H*"), logits("[L1H0,L1H1,L1H2,L1H3,L1H4,L1H5]"));
  EXPECT_EQ(logits("all"), logits("[L0G*,L1H0-5]"));
  EXPECT_NE(logits("all"), logits("L1H*"));
  EXPECT_EQ(HeadEditsGolden()
                .FullRun("llama", "boost(span=3:9, factor=2, heads=[L0H*,L1H*])")
                .result.logits,
            HeadEditsGolden().FullRun("llama", "boost(span=3:9, factor=2)").result.logits);
}

TEST(HeadEdits, RefuseHeadsThatAreNotThere) {
  for (const char* setting :
       {"ablate(L0H4-6)", "ablate(L0H6)", "boost(span=3:9, heads=L2H*)", "ablate(L0G3)",
        "streaming(heads=L0H6)", "block(from=last, to=3:9, heads=L0G0-3)"}) {
    EXPECT_THAT(test::ErrorMessage([&] { HeadEditsGolden().FullRun("llama", setting); }),
                HasSubstr("the model has no L"))
        << setting;
  }
  EXPECT_THAT(test::ErrorMessage([] { HeadEditsGolden().FullRun("llama", "ablate([L0H*,L0H2])"); }),
              HasSubstr("changed twice"));
}

}  // namespace
}  // namespace midscope
