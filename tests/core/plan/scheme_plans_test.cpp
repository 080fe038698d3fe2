// SPDX-License-Identifier: MIT
// Attention plans of position schemes, the ratio of each head, and the reach of each scheme.
// Expected numbers are calculated by hand or taken from rope_schemes_test.cpp; no model is run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/base/error.h"
#include "core/intervention/rope_schemes.h"
#include "core/plan/attention_plan.h"
#include "core/plan/plan_changes.h"
#include "core/plan/rope_frequencies.h"
#include "core/plan/run_positions.h"
#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"

namespace midscope {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ModelConfig SchemeConfig() {
  ModelConfig config;
  config.layers = 4;
  config.heads = 4;
  config.key_value_heads = 2;
  config.head_dim = 128;
  config.rope_dimensions = 128;
  config.hidden = 32;
  config.trained_context = 4096;
  return config;
}

std::vector<AttentionPlan> SchemePlans(const std::string& text, int64_t tokens = 100,
                                       const ModelConfig& config = SchemeConfig()) {
  return CompilePlans(ParseIntervention(text), config, tokens);
}

std::string Refusal(const std::string& text, const ModelConfig& config) {
  try {
    CompilePlans(ParseIntervention(text), config, 100);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
}

double Share(const std::string& text, size_t pair, int64_t tokens = 100) {
  return SchemePlans(text, tokens)[0].inverse_frequency[pair] / PlainFrequencies(1e4, 128)[pair];
}

TEST(SchemePlans, BasesReplaceFrequenciesInEveryLayer) {
  for (const AttentionPlan& plan : SchemePlans("base(500000)")) {
    EXPECT_EQ(plan.inverse_frequency, PlainFrequencies(5e5, 128));
    EXPECT_THAT(plan.q_ratio, Each(1));
  }
  EXPECT_EQ(Share("ntk(8)", 0), 1);
  EXPECT_NEAR(Share("ntk(8)", 63), 1.0 / 8, 1e-12);
  EXPECT_EQ(SchemePlans("ntk(8)")[2].inverse_frequency,
            PlainFrequencies(NtkBase(1e4, 8, 128), 128));
}

TEST(SchemePlans, DynamicSchemesFollowTheLengthBeyondTheContext) {
  EXPECT_EQ(SchemePlans("dynamic-ntk(2)", 4096), SchemePlans("none", 4096));
  EXPECT_EQ(SchemePlans("dynamic-ntk(2)", 8192)[1].inverse_frequency,
            PlainFrequencies(NtkBase(1e4, 3, 128), 128));
  EXPECT_EQ(SchemePlans("dynamic-linear", 4096), SchemePlans("none", 4096));
  const auto linear = SchemePlans("dynamic-linear", 6144);
  EXPECT_THAT(linear[3].q_ratio, Each(1.5));
  EXPECT_THAT(linear[3].k_ratio, Each(1.5));
  EXPECT_EQ(linear[3].inverse_frequency, PlainFrequencies(1e4, 128));
}

// d 128, context 4,096, factor 8, pair 33 (seed-facts B.4): three blends.
TEST(SchemePlans, ThreeFormsOfYarn) {
  EXPECT_NEAR(Share("yarn(8)", 33), 0.5625, 1e-12);
  EXPECT_NEAR(Share("yarn(8, form=paper)", 33), 0.256, 5e-4);
  EXPECT_NEAR(Share("yarn(8, form=cream)", 33), 0.222, 5e-4);
  EXPECT_EQ(SchemePlans("yarn(8, context=2048)")[0].inverse_frequency,
            YarnFrequencies(1e4, 128, {8, 2048, 32, 1, YarnForm::kRepo}));
  EXPECT_NEAR(SchemePlans("yarn(8)")[0].magnitude, 1.2079, 5e-5);
  EXPECT_EQ(SchemePlans("yarn(8, magnitude=1)")[0].magnitude, 1);
  EXPECT_EQ(SchemePlans("yarn(1)")[0].magnitude, 1);
  EXPECT_THAT(SchemePlans("yarn(1)")[0].inverse_frequency,
              ::testing::Pointwise(DoubleEq(), PlainFrequencies(1e4, 128)));
}

TEST(SchemePlans, DynamicYarnHasTheFactorOfTheLength) {
  EXPECT_EQ(SchemePlans("dynamic-yarn", 4096), SchemePlans("none", 4096));
  EXPECT_EQ(SchemePlans("dynamic-yarn", 8192), SchemePlans("yarn(2)", 8192));
  EXPECT_EQ(SchemePlans("dynamic-yarn(context=2048, form=cream, magnitude=1)", 5120),
            SchemePlans("yarn(2.5, context=2048, form=cream, magnitude=1)", 5120));
}

// d 128, base 10000, context 4,096, factor 8: what the YaRN repository's class computes in float32.
TEST(SchemePlans, NtkByPartsIsThatOfTheRepository) {
  const std::map<size_t, double> expected = {{0, 1},         {24, 1},        {30, 0.803593},
                                             {33, 0.668238}, {40, 0.312869}, {45, 0.185859},
                                             {46, 0.162632}, {47, 0.142393}, {63, 0.125}};
  for (const auto& [pair, share] : expected) {
    EXPECT_NEAR(Share("ntk-by-parts(8)", pair), share, 2e-6) << pair;
  }
  EXPECT_EQ(SchemePlans("ntk-by-parts(8)")[0].magnitude, 1);
  EXPECT_THAT(SchemePlans("ntk-by-parts(1)")[0].inverse_frequency,
              ::testing::Pointwise(DoubleEq(), PlainFrequencies(1e4, 128)));
}

TEST(SchemePlans, EabfHasAnotherBaseAndScalesQueriesFromItsFirstLayer) {
  const auto plans = SchemePlans("eabf(500000, context=2048)");
  for (const AttentionPlan& plan : plans)
    EXPECT_EQ(plan.inverse_frequency, PlainFrequencies(5e5, 128));
  EXPECT_EQ(plans[1].log_scale_base, 0);
  EXPECT_EQ(plans[2].log_scale_base, 2048);
  EXPECT_EQ(SchemePlans("eabf(first_layer=0)")[0].log_scale_base, 4096);
  EXPECT_THAT(Refusal("eabf(first_layer=4)", SchemeConfig()), HasSubstr("0-3"));
  EXPECT_EQ(SchemePlans("self-extend(scale_base=4096)")[0].log_scale_base, 4096);
  EXPECT_EQ(SchemePlans("self-extend")[0].log_scale_base, 0);
  EXPECT_EQ(QueryScale(4095, 4096), 1);
  EXPECT_EQ(QueryScale(10, 4096), 1);
  EXPECT_DOUBLE_EQ(QueryScale(4096 * 4096 - 1, 4096), 2);
}

TEST(SchemePlans, ModelsOwnScalingIsReplacedOrKept) {
  ModelConfig config = SchemeConfig();
  config.trained_context = 16384;
  config.rope_scaling.kind = RopeScalingKind::kYarn;
  config.rope_scaling.factor = 4;
  config.rope_scaling.original_context = 4096;
  const auto of = [&](const char* text, int64_t tokens = 100) {
    return SchemePlans(text, tokens, config)[0];
  };
  EXPECT_EQ(of("base(10000)").inverse_frequency, PlainFrequencies(1e4, 128));
  EXPECT_EQ(of("base(10000)").magnitude, 1);
  // Both start from the original training.
  EXPECT_EQ(of("yarn(4)"), of("none"));
  EXPECT_EQ(of("dynamic-ntk(2)", 8192).inverse_frequency,
            PlainFrequencies(NtkBase(1e4, 3, 128), 128));
  // pi and dynamic-linear compose with it.
  EXPECT_EQ(of("pi(2)").inverse_frequency, of("none").inverse_frequency);
  EXPECT_EQ(of("pi(2)").magnitude, of("none").magnitude);
  EXPECT_EQ(of("dynamic-linear", 16384), of("none", 16384));
}

TEST(SchemePlans, LocalLayersKeepTheirFrequencies) {
  ModelConfig config = SchemeConfig();
  config.rope_base = 1e6;
  config.attention = {{5, true, true}, {0, true, false}, {0, false, false}, {5, true, true}};
  const auto plain = SchemePlans("none", 5000, config);
  for (const char* text : {"base(500000)", "ntk(2)", "dynamic-ntk(2)", "yarn(4)", "dynamic-yarn",
                           "ntk-by-parts(4)", "eabf(500000, first_layer=0)"}) {
    const auto plans = SchemePlans(text, 5000, config);
    EXPECT_EQ(plans[0], plain[0]) << text;
    EXPECT_NE(plans[1], plain[1]) << text;
    EXPECT_EQ(plans[2], plain[2]) << text;
  }
  for (LayerAttention& layer : config.attention) layer.local = true;
  EXPECT_THAT(Refusal("yarn(4)", config), HasSubstr("local"));
}

TEST(SchemePlans, NopeTakesRotationFromTheNamedLayersAlone) {
  const auto plans = SchemePlans("nope(layers=[0,2-3])");
  for (const size_t layer : {0, 2, 3}) EXPECT_TRUE(plans[layer].inverse_frequency.empty());
  EXPECT_EQ(plans[1], SchemePlans("none")[1]);
  EXPECT_THAT(Refusal("nope(layers=4)", SchemeConfig()), HasSubstr("0-3"));
  ModelConfig config = SchemeConfig();
  config.attention = {{0, true, false}, {0, false, false}, {0, true, false}, {0, true, false}};
  EXPECT_THAT(Refusal("nope(layers=1)", config), HasSubstr("anyway"));
}

TEST(SchemePlans, RotaryPairsMultiplyTheNamedFrequenciesAlone) {
  const std::vector<double> plain = SchemePlans("none")[0].inverse_frequency;
  const auto plans = SchemePlans("rotary-pairs([3,60-63], factor=0.5, layers=[0,2])");
  for (size_t pair = 0; pair < plain.size(); ++pair) {
    const bool named = pair == 3 || pair >= 60;
    EXPECT_EQ(plans[2].inverse_frequency[pair], named ? plain[pair] / 2 : plain[pair]) << pair;
  }
  EXPECT_EQ(plans[1], SchemePlans("none")[1]);
  EXPECT_EQ(SchemePlans("rotary-pairs(5)")[3].inverse_frequency[5], 0);
  EXPECT_THAT(Refusal("rotary-pairs(60-64)", SchemeConfig()), HasSubstr("pairs 0-63"));
  EXPECT_THAT(Refusal("rotary-pairs(0, layers=4)", SchemeConfig()), HasSubstr("0-3"));
}

Intervention Ratios(int64_t heads, std::vector<double> ratios) {
  Intervention intervention;
  intervention.Add(TermOf(HeadRatioTable{"table.csv", heads, std::move(ratios)}));
  return intervention;
}

TEST(SchemePlans, RatiosOfAFileAreThoseOfQueriesAndKeys) {
  std::vector<double> ratios(16);
  for (size_t i = 0; i < ratios.size(); ++i) ratios[i] = 1 + static_cast<double>(i) / 16;
  const auto plans = CompilePlans(Ratios(4, ratios), SchemeConfig(), 10);
  EXPECT_THAT(plans[2].q_ratio, ElementsAre(1.5, 1.5625, 1.625, 1.6875));
  EXPECT_EQ(plans[2].k_ratio, plans[2].q_ratio);
  const std::vector<double> fewer(ratios.begin(), ratios.begin() + 12);
  EXPECT_THROW(CompilePlans(Ratios(4, fewer), SchemeConfig(), 10), Error);
  EXPECT_THROW(CompilePlans(Ratios(8, ratios), SchemeConfig(), 10), Error);
  // A ratio where nothing rotates would do nothing.
  ModelConfig config = SchemeConfig();
  config.attention = {{0, true, false}, {0, false, false}, {0, true, false}, {0, true, false}};
  EXPECT_THROW(CompilePlans(Ratios(4, ratios), config, 10), Error);
  std::fill(ratios.begin() + 4, ratios.begin() + 8, 1);
  EXPECT_NO_THROW(CompilePlans(Ratios(4, ratios), config, 10));
}

// Infini-attention needs no positions.
TEST(SchemePlans, AlibiModelsRefuseAllOthers) {
  ModelConfig config = SchemeConfig();
  config.positions = PositionKind::kAlibi;
  for (const char* text :
       {"pi(2)", "base(2e4)", "ntk(2)", "dynamic-ntk(2)", "dynamic-linear", "yarn(2)",
        "nope(layers=0)", "ms-poe(order=random)", "self-extend(group=2)"}) {
    EXPECT_THAT(Refusal(text, config), HasSubstr("ALiBi")) << text;
  }
}

MsPoe Scheme(const std::string& text) { return *ParseIntervention(text).Find<MsPoe>(); }

TEST(Ratios, FallingRampsGiveTheFirstRatioToTheMostAware) {
  const int64_t counts[] = {1, 4, 2, 3};
  const HeadRatios ratios = ResolveRatios(RatioRule{Scheme("ms-poe(min=4, max=1)")}, counts, 4);
  EXPECT_THAT(ratios.q, ElementsAre(DoubleEq(1), DoubleEq(4), DoubleEq(2), DoubleEq(3)));
}

// The permutation is written down, as a few lines of Python (MT19937-64 by hand) make it: it must
// be this on every machine.
TEST(Ratios, RandomOrderIsBySeedAndLayerAlone) {
  const std::vector<int64_t> counts(8, 0);
  const auto order = [&](const std::string& text, int64_t layer) {
    return ResolveRatios(RatioRule{Scheme(text), layer}, counts, 8).q;
  };
  const std::string text = "ms-poe(min=0.01, max=7.01, order=random, seed=1)";
  std::vector<double> indices;
  for (const double ratio : order(text, 3)) indices.push_back(std::round(ratio - 0.01));
  EXPECT_THAT(indices, ElementsAre(4, 2, 5, 3, 1, 7, 0, 6));
  EXPECT_NE(order(text, 3), order(text, 4));
  EXPECT_NE(order(text, 3), order("ms-poe(min=0.01, max=7.01, order=random, seed=2)", 3));
  EXPECT_TRUE(RatiosAreFixed(RatioRule{Scheme(text), 3}));
  // Plans are filled in at once, each layer with its own.
  const auto plans = SchemePlans("ms-poe(order=random, seed=5, first_layer=1)");
  EXPECT_THAT(plans[0].q_ratio, Each(1));
  EXPECT_THAT(plans[1].q_ratio,
              ::testing::UnorderedElementsAre(DoubleEq(1.2), DoubleNear(1.4, 1e-9),
                                              DoubleNear(1.6, 1e-9), DoubleEq(1.8)));
  EXPECT_NE(plans[1].q_ratio == plans[2].q_ratio && plans[2].q_ratio == plans[3].q_ratio, true);
}

TEST(Ratios, EntropyGivesTheMostSpreadHeadTheRatioNearestToOne) {
  const std::vector<double> entropies = {0.5, 2.5, 1.5, 2.0};
  const auto of = [&](const std::string& text) {
    return ResolveRatios(RatioRule{Scheme(text)}, entropies, 2).q;
  };
  EXPECT_THAT(of("ms-poe(min=1, max=4, order=entropy)"),
              ElementsAre(DoubleEq(4), DoubleEq(1), DoubleEq(3), DoubleEq(2)));
  EXPECT_THAT(of("ms-poe(min=4, max=1, order=entropy)"),
              ElementsAre(DoubleEq(4), DoubleEq(1), DoubleEq(3), DoubleEq(2)));
  // Ratios .5 .75 1 1.25: the lower of two that are equally near comes first.
  const auto around = of("ms-poe(min=0.5, max=1.25, order=entropy)");
  EXPECT_THAT(around, ElementsAre(DoubleEq(0.5), DoubleEq(1), DoubleEq(1.25), DoubleEq(0.75)));
  EXPECT_THAT(of("ms-poe(min=1, max=2, order=entropy, mode=group)"),
              ElementsAre(DoubleEq(2), DoubleEq(2), DoubleEq(1), DoubleEq(1)));
  EXPECT_FALSE(RatiosAreFixed(RatioRule{Scheme("ms-poe(order=entropy)")}));
}

TEST(Ratios, OfARowAreOfItsCountsOrItsEntropies) {
  // Head 0 looks at one key, head 1 at all alike, head 2 at two: entropies 0, ln 8, ln 2; keys at
  // or above 3/8: 1, 0, 2.
  const float row[3][8] = {{1, 0, 0, 0, 0, 0, 0, 0},
                           {.125f, .125f, .125f, .125f, .125f, .125f, .125f, .125f},
                           {.5f, .5f, 0, 0, 0, 0, 0, 0}};
  const auto of = [&](const std::string& text) {
    return ResolveRatiosOfRow(RatioRule{Scheme(text)}, row[0], 8, 3, 3).q;
  };
  EXPECT_THAT(of("ms-poe(min=1, max=3)"), ElementsAre(DoubleEq(2), DoubleEq(3), DoubleEq(1)));
  EXPECT_THAT(of("ms-poe(min=1, max=3, order=entropy)"),
              ElementsAre(DoubleEq(3), DoubleEq(1), DoubleEq(2)));
}

TEST(LongestRun, FollowsTheScheme) {
  const auto of = [](const std::string& text) {
    return LongestRun(ParseIntervention(text), SchemeConfig());
  };
  EXPECT_EQ(of("none"), 4096);
  EXPECT_EQ(of("channel(1, factor=0)"), 4096);
  EXPECT_EQ(of("pi(1.5)"), 6144);
  EXPECT_EQ(of("pi(0.5)"), 4096);
  EXPECT_EQ(of("ntk(8)"), 32768);
  EXPECT_EQ(of("base(82684.6226)"), 32767);  // the base of ntk(8), cut off after four digits
  EXPECT_EQ(of("base(100)"), 4096);
  EXPECT_EQ(of("yarn(4, context=2048)"), 8192);
  EXPECT_EQ(of("yarn(1.5, context=2048)"), 4096);
  EXPECT_EQ(of("ms-poe"), 4915);
  EXPECT_EQ(of("ms-poe(min=1.8, max=1.5)"), 6144);
  for (const char* text : {"dynamic-ntk", "dynamic-linear", "self-extend", "infini"})
    EXPECT_EQ(of(text), INT64_MAX) << text;
  EXPECT_EQ(LongestRun(Ratios(2, {2, 1.25}), SchemeConfig()), 5120);
}

TEST(LongestRun, EndsWithLearnedPositionsWhateverIsAskedFor) {
  ModelConfig learned = SchemeConfig();
  learned.positions = PositionKind::kLearned;
  learned.beyond_context = true;
  EXPECT_EQ(LongestRun({}, learned), SchemeConfig().trained_context);
  EXPECT_EQ(LongestRun(ParseIntervention("pi(4)"), learned), SchemeConfig().trained_context);
  EXPECT_THAT(ContextHolds({}, learned), HasSubstr("its positions are learned"));
  EXPECT_THAT(Refusal("pi(1.5)", learned), HasSubstr("learned"));
}

TEST(LongestRun, HasNoEndWithAlibiOrWhereItIsAskedFor) {
  ModelConfig alibi = SchemeConfig();
  alibi.positions = PositionKind::kAlibi;
  EXPECT_EQ(LongestRun({}, alibi), INT64_MAX);
  ModelConfig beyond = SchemeConfig();
  beyond.beyond_context = true;
  EXPECT_EQ(LongestRun({}, beyond), INT64_MAX);
  EXPECT_TRUE(IsBeyondContext(4097, {}, beyond));  // which is marked all the same
  EXPECT_FALSE(IsBeyondContext(4096, {}, beyond));
  EXPECT_FALSE(IsBeyondContext(6000, ParseIntervention("pi(1.5)"), beyond));
}

// The first layer in which rows before the last change.
int64_t FirstChangedLayer(const std::vector<AttentionPlan>& before,
                          const std::vector<AttentionPlan>& after, int64_t tokens) {
  const std::vector<int64_t> rows = FirstChangedRows(before, after);
  return std::find_if(rows.begin(), rows.end(), [&](int64_t row) { return row < tokens - 1; }) -
         rows.begin();
}

int64_t SchemeChanged(const std::string& before, const std::string& after, int64_t tokens = 100) {
  return FirstChangedLayer(SchemePlans(before, tokens), SchemePlans(after, tokens), tokens);
}

TEST(FirstChangedRows, OfEveryScheme) {
  for (const char* text : {"base(2e4)", "ntk(2)", "yarn(4)", "yarn(4, magnitude=1)", "pi(2)",
                           "ms-poe(order=random, first_layer=0)"}) {
    EXPECT_EQ(SchemeChanged("none", text), 0) << text;
    EXPECT_EQ(SchemeChanged(text, "none"), 0) << text;
    EXPECT_EQ(SchemeChanged(text, text), 4) << text;
  }
  EXPECT_EQ(SchemeChanged("yarn(4)", "yarn(4, form=cream)"), 0);
  EXPECT_EQ(SchemeChanged("yarn(4)", "yarn(4, magnitude=1)"), 0);
  EXPECT_EQ(SchemeChanged("none", "nope(layers=2-3)"), 2);
  EXPECT_EQ(SchemeChanged("nope(layers=2-3)", "nope(layers=3)"), 2);
  EXPECT_EQ(SchemeChanged("none", "rotary-pairs(7, layers=3)"), 3);
  // Within the trained context dynamic schemes change nothing.
  EXPECT_EQ(SchemeChanged("none", "dynamic-ntk(2)"), 4);
  EXPECT_EQ(SchemeChanged("none", "dynamic-linear"), 4);
  EXPECT_EQ(SchemeChanged("none", "dynamic-ntk(2)", 5000), 0);
  EXPECT_EQ(SchemeChanged("none", "dynamic-linear", 5000), 0);
  EXPECT_EQ(SchemeChanged("ms-poe(order=random)", "ms-poe(order=random, seed=1)"), 2);
  // A changed last row reaches ratios by entropy, not random ones.
  EXPECT_EQ(SchemeChanged("ms-poe(order=entropy)",
                          "ms-poe(order=entropy) + channel(1, factor=0, layers=2)"),
            3);
  EXPECT_EQ(SchemeChanged("ms-poe(order=random)",
                          "ms-poe(order=random) + channel(1, factor=0, layers=2)"),
            4);
  std::vector<double> ratios(16, 1);
  ratios[9] = 1.5;
  const Intervention table = Ratios(4, ratios);
  EXPECT_EQ(FirstChangedLayer(SchemePlans("none"), CompilePlans(table, SchemeConfig(), 100), 100),
            2);
}

}  // namespace
}  // namespace midscope
