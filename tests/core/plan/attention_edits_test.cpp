// SPDX-License-Identifier: MIT
// Plans of crops, moves, boosts, ablations and temperatures, the rows that a change of these
// affects, and rejected inputs.

#include "core/plan/attention_edits.h"
#include "core/plan/term_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ModelConfig EditsConfig() {
  ModelConfig config;
  config.layers = 6;
  config.heads = 4;
  config.key_value_heads = 2;
  config.head_dim = 8;
  config.rope_dimensions = 8;
  config.hidden = 32;
  config.trained_context = 100;
  return config;
}

std::vector<AttentionEdits> Compile(const std::string& text,
                                    const ModelConfig& config = EditsConfig()) {
  std::vector<AttentionPlan> plans(static_cast<size_t>(config.layers));
  ApplyTerms(TermStage::kAfterPositions, ParseIntervention(text), config, 50, 50, plans);
  std::vector<AttentionEdits> edits;
  edits.reserve(plans.size());
  for (AttentionPlan& plan : plans) edits.push_back(std::move(plan.edits));
  return edits;
}

std::string ErrorOf(const std::string& text, const ModelConfig& config = EditsConfig()) {
  try {
    Compile(text, config);
    return "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
}

TEST(AttentionEdits, CropHidesWhatIsBeforeFromThePassage) {
  const auto edits = Compile("crop(span=20:30, layers=0-1)");
  EXPECT_THAT(edits[1].hidden, ElementsAre(HiddenTokens{{20, 30}, 1, 20}));
  EXPECT_TRUE(edits[2].LeavesPatterns());
  EXPECT_THAT(Compile("crop(span=20:30, keep=none)")[5].hidden,
              ElementsAre(HiddenTokens{{20, 30}, 0, 20}));
  // Nothing is before the first token, and only the first before the second.
  EXPECT_EQ(Compile("crop(span=0:30, keep=none)"), Compile("none"));
  EXPECT_EQ(Compile("crop(span=1:30)"), Compile("none"));
}

TEST(AttentionEdits, RowsAreThoseOfTheOption) {
  EXPECT_EQ(Compile("boost(span=2:4)")[0].boosted[0].rows, (RowRange{49, INT64_MAX}));
  EXPECT_EQ(Compile("boost(span=2:4, rows=last)")[0].boosted[0].rows, (RowRange{49, 50}));
  EXPECT_EQ(Compile("boost(span=2:4, rows=last:60)")[0].boosted[0].rows, (RowRange{0, INT64_MAX}));
  EXPECT_EQ(Compile("ablate(L2H1)")[2].ablated[0].rows, (RowRange{0, INT64_MAX}));
  EXPECT_EQ(Compile("temperature(L2H1, 2, rows=answer)")[2].temperatures[0].rows,
            (RowRange{49, INT64_MAX}));
}

TEST(AttentionEdits, GroupsAreTheirQueryHeads) {
  const auto edits = Compile("ablate([L2G1,L3H0], with=mean)");
  ASSERT_EQ(edits[2].ablated.size(), 2u);
  EXPECT_EQ(edits[2].ablated[0].head, 2);
  EXPECT_EQ(edits[2].ablated[1].head, 3);
  EXPECT_EQ(edits[3].ablated[0].head, 0);
  EXPECT_TRUE(edits[4].ablated.empty());
}

TEST(AttentionEdits, RefusesWhatIsNotThere) {
  EXPECT_THAT(ErrorOf("crop(span=20:51)"), HasSubstr("no tokens 20:51"));
  EXPECT_THAT(ErrorOf("crop(span=20:30, layers=4-6)"), HasSubstr("0-5"));
  EXPECT_THAT(ErrorOf("crop(span=gold)"), HasSubstr("span=gold"));
  EXPECT_THAT(ErrorOf("ablate(L6H0)"), HasSubstr("no L6H0"));
  EXPECT_THAT(ErrorOf("ablate(L0H4)"), HasSubstr("H0-H3"));
  EXPECT_THAT(ErrorOf("temperature(L0G2, 2)"), HasSubstr("G0-G1"));
  EXPECT_THAT(ErrorOf("ablate([L0G1,L0H3])"), HasSubstr("L0H3 is changed twice"));
  EXPECT_THAT(ErrorOf("temperature(L0H3, 2) + temperature(L0H3, 3, rows=last)"),
              HasSubstr("twice"));
  EXPECT_THAT(ErrorOf("move(span=20:30, to=shift:-21)"), HasSubstr("positions -1 to 8"));
  EXPECT_THAT(ErrorOf("move(span=20:30, to=shift:71)"), HasSubstr("positions 91 to 100"));
  EXPECT_EQ(ErrorOf("move(span=20:30, to=shift:70)"), "no error");
  EXPECT_THAT(ErrorOf("move(span=20:30, to=shift:1) + move(span=29:31, to=shift:1, layers=3)"),
              HasSubstr("layer 3 moves a token twice"));
  EXPECT_EQ(ErrorOf("move(span=20:30, to=shift:1) + move(span=30:31, to=shift:1)"), "no error");
  ModelConfig alibi = EditsConfig();
  alibi.positions = PositionKind::kAlibi;
  EXPECT_THAT(ErrorOf("move(span=20:30, to=shift:1)", alibi), HasSubstr("ALiBi"));
  EXPECT_EQ(
      ErrorOf("crop(span=20:30) + boost(span=1:2) + ablate(L0H0) + temperature(L0H0, 2)", alibi),
      "no error");
}

int64_t ChangedRow(const std::string& before, const std::string& after) {
  return FirstChangedRow(Compile(before)[3], Compile(after)[3]);
}

TEST(AttentionEdits, TellTheFirstRowThatChanges) {
  EXPECT_EQ(ChangedRow("none", "none"), INT64_MAX);
  EXPECT_EQ(ChangedRow("none", "crop(span=20:30)"), 20);
  EXPECT_EQ(ChangedRow("crop(span=20:30)", "none"), 20);
  EXPECT_EQ(ChangedRow("crop(span=20:30)", "crop(span=20:30) + boost(span=3:4)"), 49);
  EXPECT_EQ(ChangedRow("none", "move(span=20:30, to=shift:1)"), 49);
  EXPECT_EQ(ChangedRow("none", "move(span=20:30, to=shift:1, rows=all)"), 20);
  EXPECT_EQ(ChangedRow("boost(span=7:9, rows=all)", "boost(span=7:9, rows=all, factor=3)"), 7);
  EXPECT_EQ(ChangedRow("boost(span=7:9)", "boost(span=7:9) + boost(span=7:9)"), 49);
  EXPECT_EQ(ChangedRow("temperature(L3H0, 2)", "temperature(L3H0, 3)"), 0);
  EXPECT_EQ(ChangedRow("temperature(L2H0, 2)", "temperature(L2H0, 3)"), INT64_MAX);
  EXPECT_EQ(ChangedRow("ablate(L3H0, rows=answer)", "none"), 49);
  // A mean that no run before has taken.
  EXPECT_EQ(ChangedRow("none", "ablate(L3H0, with=mean, rows=answer)"), 0);
  EXPECT_EQ(
      ChangedRow("ablate(L3H0, with=mean, rows=last)", "ablate(L3H0, with=mean, rows=answer)"), 49);
}

TEST(AttentionEdits, SplitRowsWhereTheyDiffer) {
  const AttentionEdits edits = Compile(
      "crop(span=20:30) + crop(span=25:27) + boost(span=1:2) + temperature(L0H0, 2, rows=last)")[0];
  EXPECT_THAT(AlikeRows(edits, {0, 53}),
              ElementsAre(RowRange{0, 20}, RowRange{20, 25}, RowRange{25, 27}, RowRange{27, 30},
                          RowRange{30, 49}, RowRange{49, 50}, RowRange{50, 53}));
  EXPECT_THAT(AlikeRows(edits, {50, 51}), ElementsAre(RowRange{50, 51}));
  EXPECT_TRUE(AlikeRows(edits, {5, 5}).empty());
  EXPECT_EQ(EditsOfRow(edits, 26, 4).hidden.size(), 2u);
  EXPECT_TRUE(EditsOfRow(edits, 19, 4).hidden.empty());
  EXPECT_TRUE(EditsOfRow(edits, 50, 4).temperature.empty());
  EXPECT_THAT(EditsOfRow(edits, 49, 4).temperature, ElementsAre(2, 1, 1, 1));
}

}  // namespace
}  // namespace midscope
