// SPDX-License-Identifier: MIT
// Plans of `vector` and `set`, and the rows that a change of these affects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plan/attention_plan.h"
#include "core/plan/plan_changes.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/error_message.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kPrompt = 20;

// As the tiny llama, for which the vector was made.
ModelConfig ResidualConfig() {
  ModelConfig config;
  config.layers = 2;
  config.heads = 2;
  config.key_value_heads = 2;
  config.head_dim = 4;
  config.rope_dimensions = 4;
  config.hidden = 36;
  config.rope_base = 10000;
  config.trained_context = 100;
  return config;
}

std::string Vector() {
  return '"' + std::string(MIDSCOPE_TESTS "/core/golden/control_vectors/llama.gguf") + '"';
}

std::vector<AttentionPlan> Plans(const std::string& text) {
  return CompilePlans(ParseIntervention(text), ResidualConfig(), kPrompt, kPrompt + 3);
}

std::vector<int64_t> ChangedRows(const std::string& before, const std::string& after) {
  return FirstChangedRows(Plans(before), Plans(after));
}

TEST(ResidualPlan, SaysWhichRowsOfWhichLayers) {
  const auto plans = Plans("set(3, span=5:9, to=2, layers=1) + set(4, span=last, to=mean)");
  EXPECT_THAT(plans[0].residual.set,
              ElementsAre(SetChannel{{kPrompt - 1, kPrompt}, 4, std::nullopt}));
  EXPECT_THAT(
      plans[1].residual.set,
      ElementsAre(SetChannel{{5, 9}, 3, 2.0}, SetChannel{{kPrompt - 1, kPrompt}, 4, std::nullopt}));
  EXPECT_TRUE(plans[1].residual.TakesMeans());
  EXPECT_TRUE(Plans("none")[0].residual.empty());
}

TEST(ResidualPlan, VectorsAreScaled) {
  const auto one = Plans("vector(" + Vector() + ", layers=1)");
  const auto two = Plans("vector(" + Vector() + ", scale=-2, layers=1, rows=last:3)");
  EXPECT_TRUE(one[0].residual.empty());
  ASSERT_EQ(one[1].residual.added.size(), 1u);
  EXPECT_EQ(one[1].residual.added[0].rows, (RowRange{0, INT64_MAX}));
  EXPECT_EQ(two[1].residual.added[0].rows, (RowRange{kPrompt - 3, INT64_MAX}));
  for (size_t i = 0; i < 36; ++i)
    EXPECT_EQ(two[1].residual.added[0].values[i], -2 * one[1].residual.added[0].values[i]);
}

TEST(ResidualPlan, AChangeBeginsWithItsLayerAndRows) {
  EXPECT_THAT(ChangedRows("none", "set(3, span=5:9, layers=1)"), ElementsAre(kNoRow, 5));
  EXPECT_THAT(ChangedRows("set(3, span=5:9, layers=1)", "set(3, span=7:9, layers=1)"),
              ElementsAre(kNoRow, 5));
  EXPECT_THAT(
      ChangedRows("set(3, span=5:9) + set(4, span=2:3)", "set(3, span=5:9) + set(4, span=4:6)"),
      ElementsAre(2, 2));
  EXPECT_THAT(ChangedRows("set(3, span=5:9)", "set(3, span=5:9)"), ElementsAre(kNoRow, kNoRow));
  EXPECT_THAT(ChangedRows("none", "vector(" + Vector() + ", rows=answer)"),
              ElementsAre(kPrompt - 1, kPrompt - 1));
  // The order counts: the last of two holds.
  EXPECT_THAT(ChangedRows("set(3, span=5:9, to=1) + set(3, span=6:8, to=2)",
                          "set(3, span=6:8, to=2) + set(3, span=5:9, to=1)"),
              ElementsAre(5, 5));
}

TEST(ResidualPlan, MeansNeedAllRows) {
  const std::string mean = "set(3, span=last, to=mean, layers=1)";
  EXPECT_THAT(ChangedRows("none", mean), ElementsAre(kNoRow, 0));
  EXPECT_THAT(ChangedRows(mean, mean), ElementsAre(kNoRow, kNoRow));
  // Its mean is there already.
  EXPECT_THAT(ChangedRows(mean, "set(3, span=7:9, to=mean, layers=1)"), ElementsAre(kNoRow, 7));
  EXPECT_THAT(ChangedRows(mean, "none"), ElementsAre(kNoRow, kPrompt - 1));
  // A change to any row below changes it.
  EXPECT_THAT(ChangedRows(mean, mean + " + set(4, span=last, layers=0)"),
              ElementsAre(kPrompt - 1, 0));
  EXPECT_THAT(ChangedRows(mean, mean + " + vector(" + Vector() + ", layers=1, rows=last)"),
              ElementsAre(kNoRow, 0));
  // Channels are set after means are taken.
  EXPECT_THAT(ChangedRows(mean, mean + " + set(4, span=last, layers=1)"),
              ElementsAre(kNoRow, kPrompt - 1));
}

// Files that have changed, or are of another kind, are refused at their column in the text.
TEST(ResidualPlan, TheTermNamesItsFile) {
  const std::string printed = PrintIntervention(ParseIntervention("vector(" + Vector() + ")"));
  EXPECT_THAT(printed, HasSubstr("digest="));
  EXPECT_EQ(PrintIntervention(ParseIntervention(printed)), printed);
  std::string other = printed;
  other.replace(other.find("digest=") + 7, 4, "0000");
  EXPECT_THAT(test::ErrorMessage([&] { ParseIntervention(other); }),
              HasSubstr("are others now: their digest is"));
  EXPECT_THAT(test::ErrorMessage([] { ParseIntervention("vector(nosuch.gguf)"); }),
              HasSubstr("nosuch.gguf"));
  EXPECT_THAT(test::ErrorMessage([] { ParseIntervention("set(3, to=several)"); }),
              HasSubstr("column"));
}

}  // namespace
}  // namespace midscope
