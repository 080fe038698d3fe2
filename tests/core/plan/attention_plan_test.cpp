// SPDX-License-Identifier: MIT
// Ratios of heads, and which parts of a plan a changed intervention affects. Values are exact,
// because they are computed from integers with one multiplication.

#include "core/plan/attention_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"

namespace midscope {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

ModelConfig Config(int64_t layers = 6, int64_t heads = 4, int64_t key_value_heads = 2) {
  ModelConfig config;
  config.layers = layers;
  config.heads = heads;
  config.key_value_heads = key_value_heads;
  config.head_dim = 8;
  config.rope_dimensions = 8;
  config.hidden = 32;
  return config;
}

RatioRule Rule(const std::string& text) { return {*ParseIntervention(text).Find<MsPoe>()}; }

// Scores .1 .4 .2 .3 (seed-facts A.3 #1): by rank the best head, 1, gets the smallest ratio; the
// public code gives it the largest.
TEST(Ratios, RankAndCodeDifferOnAsymmetricScores) {
  const int64_t counts[] = {1, 4, 2, 3};
  const HeadRatios rank = ResolveRatios(Rule("ms-poe(min=1, max=4)"), counts, 4);
  EXPECT_THAT(rank.q, ElementsAre(DoubleEq(4), DoubleEq(1), DoubleEq(3), DoubleEq(2)));
  const HeadRatios code = ResolveRatios(Rule("ms-poe(min=1, max=5, mode=code)"), counts, 4);
  EXPECT_THAT(code.q, ElementsAre(DoubleEq(2), DoubleEq(4), DoubleEq(3), DoubleEq(1)));
}

TEST(Ratios, EndPointsOf32Heads) {
  std::vector<int64_t> counts(32, 0);
  const HeadRatios paper = ResolveRatios(Rule("ms-poe(order=sequential)"), counts, 32);
  EXPECT_DOUBLE_EQ(paper.q.front(), 1.2);
  EXPECT_DOUBLE_EQ(paper.q.back(), 1.8);
  const HeadRatios code = ResolveRatios(Rule("ms-poe(mode=code, order=sequential)"), counts, 32);
  EXPECT_DOUBLE_EQ(code.q[1], 1.21875);
  EXPECT_DOUBLE_EQ(code.q.back(), 1.78125);
}

TEST(Ratios, TiesGoToTheLowerHead) {
  const int64_t counts[] = {2, 2, 5, 2};
  const HeadRatios ratios = ResolveRatios(Rule("ms-poe(min=1, max=4)"), counts, 4);
  EXPECT_THAT(ratios.q, ElementsAre(DoubleEq(2), DoubleEq(3), DoubleEq(1), DoubleEq(4)));
}

TEST(Ratios, OneHeadGetsTheMinimum) {
  const int64_t counts[] = {3};
  EXPECT_THAT(ResolveRatios(Rule("ms-poe(min=1.2, max=1.8)"), counts, 1).q,
              ElementsAre(DoubleEq(1.2)));
}

TEST(Ratios, GroupModeRanksSummedCountsAndSharesOneRatio) {
  const int64_t counts[] = {1, 2, 9, 0};
  const HeadRatios ratios = ResolveRatios(Rule("ms-poe(min=1, max=2, mode=group)"), counts, 2);
  EXPECT_THAT(ratios.q, ElementsAre(DoubleEq(2), DoubleEq(2), DoubleEq(1), DoubleEq(1)));
  EXPECT_EQ(ratios.q, ratios.k);
}

TEST(Ratios, CodeModeRotatesAGroupsKeysWithItsFirstHeadsRatio) {
  const int64_t counts[] = {4, 3, 2, 1};
  const HeadRatios ratios = ResolveRatios(Rule("ms-poe(min=1, max=5, mode=code)"), counts, 2);
  EXPECT_THAT(ratios.q, ElementsAre(DoubleEq(1), DoubleEq(2), DoubleEq(3), DoubleEq(4)));
  EXPECT_THAT(ratios.k, ElementsAre(DoubleEq(1), DoubleEq(1), DoubleEq(3), DoubleEq(3)));
}

TEST(Ratios, ReversedScoreTurnsTheRampRound) {
  const int64_t counts[] = {1, 4, 2, 3};
  const HeadRatios ratios =
      ResolveRatios(Rule("ms-poe(min=1, max=4, order=score-reversed)"), counts, 4);
  EXPECT_THAT(ratios.q, ElementsAre(DoubleEq(1), DoubleEq(4), DoubleEq(2), DoubleEq(3)));
}

TEST(CompilePlans, ChannelRowsAreThoseOfTheOption) {
  const auto rows = [](const std::string& text) {
    return CompilePlans(ParseIntervention(text), Config(), 10)[3].row_override.value();
  };
  EXPECT_EQ(rows("channel(1, factor=0)").first_row, 9);
  EXPECT_EQ(rows("channel(1, factor=0)").last_row, INT64_MAX);
  EXPECT_EQ(rows("channel(1, factor=0, rows=last)").last_row, 10);
  EXPECT_EQ(rows("channel(1, factor=0, rows=last:4)").first_row, 6);
  EXPECT_EQ(rows("channel(1, factor=0, rows=last:40)").first_row, 0);
  EXPECT_EQ(rows("channel(1, factor=0, rows=all)").first_row, 0);
  EXPECT_EQ(rows("channel(1, factor=0) + channel(2, factor=3, change_value=yes)").channels,
            (std::vector<ScaledChannel>{{1, 0, false}, {2, 3, true}}));
}

TEST(CompilePlans, LayersOutsideTheListAreUntouched) {
  const auto plans =
      CompilePlans(ParseIntervention("channel(1, factor=0, layers=[0,2-3])"), Config(), 10);
  for (size_t layer = 0; layer < plans.size(); ++layer) {
    EXPECT_EQ(plans[layer].row_override.has_value(), layer == 0 || layer == 2 || layer == 3)
        << layer;
  }
}

TEST(CompilePlans, RefusesWhatTheModelDoesNotHave) {
  EXPECT_THROW(CompilePlans(ParseIntervention("channel(32, factor=0)"), Config(), 10), Error);
  EXPECT_THROW(CompilePlans(ParseIntervention("channel(1, factor=0, layers=4-6)"), Config(), 10),
               Error);
  EXPECT_THROW(
      CompilePlans(ParseIntervention("channel(1, factor=0) + channel(1, factor=2, layers=3)"),
                   Config(), 10),
      Error);
}

// transformers' build_mpt_alibi_tensor: half, then every other slope of the next power of two.
TEST(AlibiSlopes, AreThoseOfMpt) {
  EXPECT_THAT(AlibiSlopes(4, 8.0), ElementsAre(0.25f, 0.0625f, 0.015625f, 0.00390625f));
  EXPECT_THAT(AlibiSlopes(3, 8.0), ElementsAre(0.0625f, 0.00390625f, 0.25f));
  EXPECT_THAT(AlibiSlopes(1, 8.0), ElementsAre(0.00390625f));
}

TEST(CompilePlans, AlibiModelsTakeNoPositionSchemeAndAllChannels) {
  ModelConfig config = Config();
  config.positions = PositionKind::kAlibi;
  EXPECT_THROW(CompilePlans(ParseIntervention("ms-poe()"), config, 10), Error);
  EXPECT_THROW(CompilePlans(ParseIntervention("pi(1.5)"), config, 10), Error);
  const auto plans = CompilePlans(ParseIntervention("channel(1, factor=0)"), config, 10);
  EXPECT_TRUE(plans[0].row_override.has_value());
  EXPECT_EQ(plans[0].alibi_slopes.size(), 4u);
  EXPECT_TRUE(plans[0].inverse_frequency.empty());
}

TEST(CompilePlans, LayersGoTheirOwnWays) {
  ModelConfig config = Config(4);
  config.rope_base = 1e6;
  config.attention = {{5, true, true}, {0, true, false}, {0, false, false}, {0, true, false}};
  const auto plans = CompilePlans(ParseIntervention("pi(1.5)"), config, 10);
  EXPECT_EQ(plans[0].window, 5);
  EXPECT_NE(plans[0].inverse_frequency, plans[1].inverse_frequency);
  EXPECT_EQ(plans[1].inverse_frequency, plans[3].inverse_frequency);
  EXPECT_TRUE(plans[2].inverse_frequency.empty());
  EXPECT_EQ(plans[1].q_ratio[0], 1.5);
  EXPECT_EQ(plans[2].q_ratio[0], 1.0);  // nothing to rescale where nothing rotates
}

// Frequencies that depend on the length make plans of another length others.
TEST(CompilePlans, FrequenciesFollowTheLengthOfTheSequence) {
  ModelConfig config = Config();
  config.trained_context = 64;
  config.rope_scaling.kind = RopeScalingKind::kDynamic;
  config.rope_scaling.factor = 2;
  config.rope_scaling.original_context = 16;
  EXPECT_EQ(CompilePlans({}, config, 10, 16), CompilePlans({}, config, 10));
  EXPECT_NE(CompilePlans({}, config, 10, 17), CompilePlans({}, config, 10));
}

}  // namespace
}  // namespace midscope
