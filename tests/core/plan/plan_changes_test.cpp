// SPDX-License-Identifier: MIT
// Contract: in each layer, no row before the reported first changed row can differ, and changes
// that affect no row are recognised.
#include "core/plan/plan_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/terms/intervention_text.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kTokens = 50;
constexpr int64_t kNone = kNoRow;

ModelConfig ChangesConfig() {
  ModelConfig config;
  config.layers = 6;
  config.hidden = 32;
  config.heads = 4;
  config.key_value_heads = 2;
  config.head_dim = 8;
  config.rope_dimensions = 8;
  config.trained_context = 100;
  config.rope_base = 10000;
  return config;
}

std::vector<int64_t> Changed(const std::string& before, const std::string& after) {
  const auto plans = [](const std::string& text) {
    return CompilePlans(ParseIntervention(text), ChangesConfig(), kTokens);
  };
  return FirstChangedRows(plans(before), plans(after));
}

TEST(FirstChangedRows, NothingChangesNoRow) {
  EXPECT_THAT(Changed("none", "none"), ElementsAre(kNone, kNone, kNone, kNone, kNone, kNone));
  EXPECT_THAT(Changed("ms-poe", "ms-poe"), ElementsAre(kNone, kNone, kNone, kNone, kNone, kNone));
}

TEST(FirstChangedRows, ChannelCountsFromTheRowsThatSeeItScaled) {
  EXPECT_THAT(Changed("none", "channel(1, factor=-1, layers=2-4)"),
              ElementsAre(kNone, kNone, 49, 49, 49, 49));
  EXPECT_THAT(Changed("channel(1, factor=0.5, layers=1-3)", "channel(2, factor=0.5, layers=0-5)"),
              ElementsAre(49, 49, 49, 49, 49, 49));
  EXPECT_THAT(Changed("none", "channel(1, factor=-1, layers=2-4, rows=last:7)"),
              ElementsAre(kNone, kNone, 43, 43, 43, 43));
  EXPECT_THAT(Changed("channel(1, factor=2, layers=2-4, rows=last:7)",
                      "channel(1, factor=2, layers=2-4, rows=last:9)"),
              ElementsAre(kNone, kNone, 41, 41, 41, 41));
  EXPECT_THAT(Changed("none", "channel(1, factor=-1, layers=3-4, rows=all)"),
              ElementsAre(kNone, kNone, kNone, 0, 0, 0));
  // Values change for those rows alone, as keys do.
  EXPECT_THAT(Changed("channel(1, factor=2, layers=2-4)",
                      "channel(1, factor=2, layers=2-4, change_value=yes)"),
              ElementsAre(kNone, kNone, 49, 49, 49, 49));
}

TEST(FirstChangedRows, PatchesCountFromTheirRows) {
  EXPECT_THAT(Changed("none", "patch(from=place:1, span=20:24, layers=2)"),
              ElementsAre(kNone, kNone, 20, 20, 20, 20));
  EXPECT_THAT(Changed("patch(from=place:1, what=v, span=20:24, layers=2)",
                      "patch(from=place:1, what=v, span=20:24, layers=2) + "
                      "patch(from=place:1, what=z, span=last, layers=4, heads=L4H1)"),
              ElementsAre(kNone, kNone, kNone, kNone, 49, 49));
  EXPECT_THAT(Changed("patch(from=place:1, what=z, span=last, heads=L4H1)",
                      "patch(from=place:1, what=z, span=last, heads=L4H2)"),
              ElementsAre(kNone, kNone, kNone, kNone, 49, 49));
}

// Ms-PoE's scores are made of q and k of the same layer, of all else in the layers above.
TEST(FirstChangedRows, PatchedScoresChangeTheRatiosOfTheirLayer) {
  const auto beside = [](const std::string& what) {
    return Changed("ms-poe",
                   "ms-poe + patch(from=place:1, span=20:24, layers=3, what=" + what + ")");
  };
  EXPECT_THAT(beside("k"), ElementsAre(kNone, kNone, kNone, 0, 0, 0));
  EXPECT_THAT(beside("q"), ElementsAre(kNone, kNone, kNone, 0, 0, 0));
  EXPECT_THAT(beside("v"), ElementsAre(kNone, kNone, kNone, 20, 0, 0));
}

TEST(FirstChangedRows, LaterLayersNeverBeginLater) {
  EXPECT_THAT(Changed("none", "boost(span=20:30, layers=2) + crop(span=10:30, layers=4)"),
              ElementsAre(kNone, kNone, 49, 49, 10, 10));
  EXPECT_THAT(Changed("none", "crop(span=10:30, layers=1) + boost(span=20:30, layers=3)"),
              ElementsAre(kNone, 10, 10, 10, 10, 10));
}

TEST(FirstChangedRows, EditsCountFromTheRowsThatTheyTouch) {
  EXPECT_THAT(Changed("none", "move(span=20:30, to=shift:2)"), ElementsAre(49, 49, 49, 49, 49, 49));
  EXPECT_THAT(Changed("none", "move(span=20:30, to=shift:2, rows=all, layers=5)"),
              ElementsAre(kNone, kNone, kNone, kNone, kNone, 20));
  EXPECT_THAT(Changed("none", "temperature(L4H1, 2)"),
              ElementsAre(kNone, kNone, kNone, kNone, 0, 0));
  EXPECT_THAT(Changed("none", "boost(span=20:30, layers=2-3, rows=last:2)"),
              ElementsAre(kNone, kNone, 48, 48, 48, 48));
}

TEST(FirstChangedRows, PositionSchemesCountFromTheirFirstLayerOn) {
  EXPECT_THAT(Changed("none", "pi(1.5)"), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(Changed("none", "ms-poe(first_layer=4)"),
              ElementsAre(kNone, kNone, kNone, kNone, 0, 0));
  EXPECT_THAT(Changed("ms-poe(first_layer=2)", "ms-poe(first_layer=2, max=1.9)"),
              ElementsAre(kNone, kNone, 0, 0, 0, 0));
}

TEST(FirstChangedRows, SchemesCountFromTheRowsThatSeeThem) {
  EXPECT_THAT(Changed("none", "pi(1.5, rows=last)"), ElementsAre(49, 49, 49, 49, 49, 49));
  EXPECT_THAT(Changed("pi(1.5, rows=last)", "pi(1.5, rows=answer)"),
              ElementsAre(50, 50, 50, 50, 50, 50));
  EXPECT_THAT(Changed("pi(1.5, rows=last:9)", "pi(1.5, rows=last:3)"),
              ElementsAre(41, 41, 41, 41, 41, 41));
  EXPECT_THAT(Changed("pi(1.5)", "pi(1.5, rows=last:3)"), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(Changed("base(20000, rows=last:3)", "base(20000, rows=last:3)"),
              ElementsAre(kNone, kNone, kNone, kNone, kNone, kNone));
  EXPECT_THAT(Changed("none", "self-extend(window=10, rows=last:3)"),
              ElementsAre(47, 47, 47, 47, 47, 47));
  EXPECT_THAT(Changed("none", "ms-poe(first_layer=4, rows=last:3)"),
              ElementsAre(kNone, kNone, kNone, kNone, 47, 47));
  EXPECT_THAT(Changed("ms-poe(rows=last:3)", "ms-poe(rows=last:3) + crop(span=20:30, layers=3)"),
              ElementsAre(kNone, kNone, kNone, 20, 20, 20));
}

TEST(FirstChangedRows, SelfExtendLeavesRowsThatSeeNoFarKey) {
  std::vector<AttentionPlan> before = CompilePlans({}, ChangesConfig(), kTokens);
  std::vector<AttentionPlan> after = before;
  after[3].near_far = NearFarRule{2, 30};
  EXPECT_THAT(FirstChangedRows(before, after), ElementsAre(kNone, kNone, kNone, 30, 30, 30));
  before[3].near_far = NearFarRule{2, 17};
  EXPECT_EQ(FirstChangedRows(before, after)[3], 17);
}

TEST(FirstChangedRows, AScaleOfQueriesLeavesRowsUpToItsBase) {
  std::vector<AttentionPlan> before = CompilePlans({}, ChangesConfig(), kTokens);
  std::vector<AttentionPlan> after = before;
  after[3].log_scale_base = 30;
  EXPECT_THAT(FirstChangedRows(before, after), ElementsAre(kNone, kNone, kNone, 30, 30, 30));
  before[3].log_scale_base = 17;
  EXPECT_EQ(FirstChangedRows(before, after)[3], 17);
}

// The last row's scores decide ratios, so a change to that row reaches all rows of the next layer
// with a ratio rule.
TEST(FirstChangedRows, ChangedLastRowReachesLaterRatiosByScore) {
  EXPECT_THAT(
      Changed("ms-poe(first_layer=2)", "ms-poe(first_layer=2) + channel(1, factor=0, layers=3-3)"),
      ElementsAre(kNone, kNone, kNone, 49, 0, 0));
  EXPECT_THAT(Changed("ms-poe(first_layer=2, order=sequential)",
                      "ms-poe(first_layer=2, order=sequential) + channel(1, factor=0, layers=3-3)"),
              ElementsAre(kNone, kNone, kNone, 49, 49, 49));
  // Only the rows that take ratios change.
  EXPECT_THAT(Changed("ms-poe(first_layer=2, rows=last:7)",
                      "ms-poe(first_layer=2, rows=last:7) + channel(1, factor=0, layers=3-3)"),
              ElementsAre(kNone, kNone, kNone, 49, 43, 43));
}

TEST(FirstRowsToRun, DroppedLayersRunAllRowsWhereOneOfThemChanges) {
  const std::vector<int64_t> low = {kNone, 30, 30, 12};
  EXPECT_EQ(FirstRowsToRun(low, 0, 50), low);
  EXPECT_THAT(FirstRowsToRun(low, 2, 50), ElementsAre(0, 0, 30, 12));
  EXPECT_EQ(FirstRowsToRun(low, 1, 50), low);
  EXPECT_EQ(FirstRowsToRun({50, 50, 50, 12}, 3, 50), (std::vector<int64_t>{50, 50, 50, 12}));
}

}  // namespace
}  // namespace midscope
