// SPDX-License-Identifier: MIT
#include "core/terms/intervention_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <variant>

#include "core/base/error.h"
#include "core/base/text.h"
#include "tests/core/support/random_intervention.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Canonical(std::string_view text) { return PrintIntervention(ParseIntervention(text)); }

std::string TextError(std::string_view text) {
  try {
    return "no error: " + Canonical(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
}

TEST(InterventionText, PrintsEveryArgumentInFixedOrder) {
  EXPECT_EQ(Canonical("none"), "none");
  EXPECT_TRUE(ParseIntervention(" none ").empty());
  EXPECT_EQ(Canonical("pi(1.5)"), "pi(1.5)");
  EXPECT_EQ(Canonical("pi( ratio = 2.0 )"), "pi(2)");
  EXPECT_EQ(Canonical("pi"), "pi(1.5)");
  EXPECT_EQ(Canonical("ms-poe(min=1.2, max=1.8)"),
            "ms-poe(min=1.2, max=1.8, mode=rank, order=score, first_layer=2)");
  EXPECT_EQ(Canonical("ms-poe(layers=[12,2-8],order=score-reversed,mode=group)"),
            "ms-poe(min=1.2, max=1.8, mode=group, order=score-reversed, layers=[2-8,12])");
  EXPECT_EQ(Canonical("ms-poe(layers=all)"),
            "ms-poe(min=1.2, max=1.8, mode=rank, order=score, layers=all)");
  EXPECT_EQ(Canonical("channel(100,factor=-1,layers=8-25)"),
            "channel(100, factor=-1, layers=8-25, rows=answer)");
  EXPECT_EQ(Canonical("ms-poe(min=1.2, max=1.8) + channel(100, factor=-1e-2, rows=last:16)"),
            "ms-poe(min=1.2, max=1.8, mode=rank, order=score, first_layer=2) + "
            "channel(100, factor=-0.01, layers=all, rows=last:16)");
}

TEST(InterventionText, PrintsSchemesInFull) {
  EXPECT_EQ(Canonical("base"), "base(500000)");
  EXPECT_EQ(Canonical("base(5e5)"), "base(500000)");
  EXPECT_EQ(Canonical("ntk(factor=8)"), "ntk(8)");
  EXPECT_EQ(Canonical("dynamic-ntk()"), "dynamic-ntk(2)");
  EXPECT_EQ(Canonical("dynamic-linear"), "dynamic-linear");
  EXPECT_EQ(Canonical("dynamic-linear()"), "dynamic-linear");
  EXPECT_EQ(Canonical("yarn(4)"),
            "yarn(4, context=model, form=repo, beta_fast=32, beta_slow=1, magnitude=auto)");
  EXPECT_EQ(Canonical("yarn(magnitude=1, context=2048, form=cream)"),
            "yarn(4, context=2048, form=cream, beta_fast=32, beta_slow=1, magnitude=1)");
  EXPECT_EQ(Canonical("nope(layers=[4,0-2])"), "nope(layers=[0-2,4])");
  EXPECT_EQ(Canonical("rotary-pairs([7,4-5,6])"), "rotary-pairs(4-7, factor=0, layers=all)");
  EXPECT_EQ(Canonical("self-extend"), "self-extend(group=2, window=64)");
  EXPECT_EQ(Canonical("infini"), "infini(segment=2048, gate=0.1, update=linear)");
  EXPECT_EQ(Canonical("infini(gate=[0,0.25], update=delta)"),
            "infini(segment=2048, gate=[0,0.25], update=delta)");
  EXPECT_EQ(Canonical("ms-poe(min=1.8, max=1.2, order=random)"),
            "ms-poe(min=1.8, max=1.2, mode=rank, order=random, seed=0, first_layer=2)");
  EXPECT_EQ(Canonical("ms-poe(order=entropy)"),
            "ms-poe(min=1.2, max=1.8, mode=rank, order=entropy, first_layer=2)");
}

// Settings from before there was a choice keep their text.
TEST(InterventionText, PrintsChangedValuesAlone) {
  const std::string before = "channel(1, factor=0.5, layers=all, rows=answer)";
  EXPECT_EQ(Canonical("channel(1, factor=0.5)"), before);
  EXPECT_EQ(Canonical("channel(1, factor=0.5, change_value=no)"), before);
  EXPECT_EQ(Canonical("channel([1,2], change_value=yes, factor=0.5, rows=last:3)"),
            "channel(1, factor=0.5, layers=all, rows=last:3, change_value=yes) + "
            "channel(2, factor=0.5, layers=all, rows=last:3, change_value=yes)");
}

TEST(NumberText, IsAsAPersonWritesItAndReadsBackTheSame) {
  EXPECT_EQ(NumberText(500000), "500000");
  EXPECT_EQ(NumberText(-0.01), "-0.01");
  EXPECT_EQ(NumberText(0.00001), "0.00001");
  EXPECT_EQ(NumberText(1e-7), "1e-07");
  EXPECT_EQ(NumberText(1e300), "1e+300");
  EXPECT_EQ(NumberText(0), "0");
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const double value =
        std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 128));
    double read = 0;
    ASSERT_TRUE(ReadWhole(NumberText(value), read));
    ASSERT_EQ(read, value);
  }
}

TEST(InterventionText, RatiosComeFromAFileAndTellWhenItChanges) {
  const std::string folder = ::testing::TempDir();
  const std::string file = folder + "/head ratios.csv";
  std::ofstream(file) << "layer,head,ratio\n0,0,1.5\n0,1,1.25\n";
  const Intervention read = ParseIntervention("ratios(\"" + file + "\")");
  const auto& table = *read.Find<HeadRatioTable>();
  EXPECT_EQ(table.heads, 2);
  EXPECT_THAT(table.ratios, ::testing::ElementsAre(1.5, 1.25));
  const std::string text = PrintIntervention(read);
  EXPECT_THAT(text, HasSubstr("digest="));
  EXPECT_EQ(ParseIntervention(text), read);
  std::ofstream(file) << "0,0,1.5\n0,1,1.26\n";
  EXPECT_THAT(TextError(text), AllOf(HasSubstr("others now"), HasSubstr("head ratios.csv")));
  std::ofstream(file) << "0,0,1.5\n0,1,0\n";
  EXPECT_THAT(TextError("ratios(\"" + file + "\")"),
              AllOf(HasSubstr("line 2"), HasSubstr("column 8")));
}

TEST(InterventionText, PrintsEditsInFull) {
  EXPECT_EQ(Canonical("crop(span=gold)"), "crop(span=gold, layers=all, keep=first)");
  EXPECT_EQ(Canonical("crop(keep=none, span=400:600, layers=0-7)"),
            "crop(span=400:600, layers=0-7, keep=none)");
  EXPECT_EQ(Canonical("move(span=\"pair 7\", to=begin)"),
            "move(span=\"pair 7\", to=begin, layers=all, rows=answer)");
  EXPECT_EQ(Canonical("move(span=\"gold\", to=shift:-200, rows=last:3)"),
            "move(span=gold, to=shift:-200, layers=all, rows=last:3)");
  EXPECT_EQ(Canonical("boost(span=gold)"),
            "boost(span=gold, factor=2, renormalise=no, layers=all, rows=answer)");
  EXPECT_EQ(Canonical("ablate([L12H3,L2G1,L2H1])"),
            "ablate([L2H1,L2G1,L12H3], with=zero, rows=all)");
  EXPECT_EQ(Canonical("temperature(L12H3, 1.5)"), "temperature(L12H3, 1.5, rows=all)");
  EXPECT_EQ(Canonical("temperature(temperature=2, head=L0H0)"), "temperature(L0H0, 2, rows=all)");
  // Terms of one kind stay in their order, kinds have theirs.
  EXPECT_EQ(
      Canonical("temperature(L0H0, 2) + ablate(L0H0) + boost(span=b) + boost(span=a) + pi(2)"),
      "pi(2) + boost(span=b, factor=2, renormalise=no, layers=all, rows=answer) + "
      "boost(span=a, factor=2, renormalise=no, layers=all, rows=answer) + "
      "ablate(L0H0, with=zero, rows=all) + temperature(L0H0, 2, rows=all)");
  // A name of digits is a name only in quotation marks; + and , in a name are not operators.
  EXPECT_EQ(ParseIntervention("crop(span=\"4:6\")").Find<Crop>()->span.name, "4:6");
  EXPECT_EQ(Canonical("crop(span=\"4:6\")"), "crop(span=\"4:6\", layers=all, keep=first)");
  EXPECT_EQ(Canonical("crop(span=\"a + (b, \xc3\xa9\")"),
            "crop(span=\"a + (b, \xc3\xa9\", layers=all, keep=first)");
}

TEST(InterventionText, ReadsValues) {
  const Intervention read =
      ParseIntervention("channel([100,215], factor=[-1,0], layers=[2-8,12], rows=last)");
  ASSERT_EQ(read.All<ChannelScaling>().size(), 2U);
  EXPECT_TRUE(PositionScheme(read) == nullptr);
  EXPECT_EQ(read.All<ChannelScaling>()[1].channel, 215);
  EXPECT_EQ(read.All<ChannelScaling>()[1].factor, 0.0);
  EXPECT_EQ(read.Find<ChannelScaling>()->rows.rows, ChannelRows::kLast);
  EXPECT_TRUE(read.Find<ChannelScaling>()->layers.Contains(8));
  EXPECT_FALSE(read.Find<ChannelScaling>()->layers.Contains(9));
  EXPECT_TRUE(read.Find<ChannelScaling>()->layers.Contains(12));
  EXPECT_EQ(ParseIntervention("channel([1,2], factor=3)").All<ChannelScaling>()[1].factor, 3.0);

  const auto ms_poe = *ParseIntervention("ms-poe(first_layer=0)").Find<MsPoe>();
  EXPECT_TRUE(ms_poe.layers.Contains(0));
  EXPECT_TRUE(ms_poe.layers.Contains(4000));
  EXPECT_FALSE(ParseIntervention("ms-poe").Find<MsPoe>()->layers.Contains(1));
  EXPECT_EQ(ParseIntervention("channel(1,factor=2,layers=[3-4,5,9])"),
            ParseIntervention("channel(1,factor=2,layers=[9,3-5])"));
}

TEST(SameSetting, ComparesValues) {
  EXPECT_TRUE(SameSetting("pi(1.5)", "pi(ratio=1.50)"));
  EXPECT_TRUE(SameSetting("channel(1, factor=2)",
                          "channel(1, factor=2, layers=all, rows=answer, change_value=no)"));
  // Settings of files from before alpha.
  EXPECT_TRUE(
      SameSetting("ms-poe(min=1.2, max=1.8, mode=rank, order=score, first_layer=2)",
                  "ms-poe(min=1.2, max=1.8, mode=rank, order=score, alpha=3, first_layer=2)"));
  EXPECT_FALSE(SameSetting("ms-poe", "ms-poe(alpha=2)"));
  // Settings of files from before schemes had rows.
  EXPECT_TRUE(SameSetting("pi(1.5)", "pi(1.5, rows=all)"));
  EXPECT_EQ(Canonical("pi(1.5, rows=all)"), "pi(1.5)");
  EXPECT_FALSE(SameSetting("pi(1.5)", "pi(1.5, rows=last)"));
  EXPECT_EQ(Canonical("dynamic-linear(rows=last:16)"), "dynamic-linear(rows=last:16)");
  EXPECT_EQ(Canonical("ms-poe(alpha=2, layers=all)"),
            "ms-poe(min=1.2, max=1.8, mode=rank, order=score, alpha=2, layers=all)");
  EXPECT_TRUE(SameSetting("no setting", "no setting"));
  EXPECT_FALSE(SameSetting("pi(1.5)", "pi(1.6)"));
  EXPECT_FALSE(SameSetting("pi(1.5)", "no setting"));
  EXPECT_FALSE(SameSetting("", "none"));
}

struct BadText {
  const char* text;
  int column;
  const char* says;
};

class InterventionTextErrors : public ::testing::TestWithParam<BadText> {};

TEST_P(InterventionTextErrors, NamesColumnAndReason) {
  const BadText& bad = GetParam();
  EXPECT_THAT(TextError(bad.text),
              AllOf(HasSubstr("column " + std::to_string(bad.column) + ": "), HasSubstr(bad.says)));
}

INSTANTIATE_TEST_SUITE_P(
    All, InterventionTextErrors,
    ::testing::Values(
        BadText{"", 1, "empty"}, BadText{"   ", 1, "empty"},
        BadText{"ms-peo(min=1.2)", 1, "Did you mean 'ms-poe'?"},
        BadText{"pi(1.5) + chanel(1, factor=2)", 11, "Did you mean 'channel'?"},
        BadText{"none + self-extend(group=2, window=64)", 8, "second position scheme"},
        BadText{"ratios(no/such.csv)", 8, "no/such.csv"}, BadText{"ratios", 1, "'file'"},
        BadText{"ratios(\"a b", 8, "not closed"},
        BadText{"base(1)", 6, "'base': 1 is out of range. Allowed: 2 to"},
        BadText{"base(2e12)", 6, "1000000000000"}, BadText{"ntk(0)", 5, "0.01"},
        BadText{"yarn(0.5)", 6, "Allowed: 1 to 1000"}, BadText{"yarn(4, 2048)", 9, "NAME=VALUE"},
        BadText{"yarn(4, context=0)", 17, "Allowed: model | 1 to"},
        BadText{"yarn(context=modle)", 14, "'model'"},
        BadText{"yarn(context=N)", 14, "not an integer (allowed: model"},
        BadText{"yarn(magnitude=none)", 16, "auto"}, BadText{"yarn(form=code)", 11, "cream"},
        BadText{"yarn(beta_fast=1)", 6, "not above beta_slow"},
        BadText{"yarn(beta_slow=40)", 6, "not above beta_slow"},
        BadText{"dynamic-linear(2)", 16, "first argument's name is 'rows'"},
        BadText{"nope", 1, "'layers'"}, BadText{"rotary-pairs(factor=1)", 1, "'pairs'"},
        BadText{"nope(0-3)", 6, "NAME=VALUE"}, BadText{"self-extend(group=0)", 19, "Allowed: 1 to"},
        BadText{"self-extend(group=1.5)", 19, "integer"},
        BadText{"infini(gate=1.5)", 13, "Allowed: 0 to 1"},
        BadText{"infini(gate=[0.1,x])", 18, "number"}, BadText{"ms-poe(seed=3)", 8, "order=random"},
        BadText{"ms-poe(order=random, seed=-1)", 27, "Allowed: 0 to"},
        BadText{"ms-poe(mim=1)", 8, "Did you mean 'min'?"},
        BadText{"channel(1, factor=0, change_value=true)", 35,
                "'true' is not one of its choices (allowed: no | yes)"},
        BadText{"ms-poe(order=entropie)", 14, "Did you mean 'entropy'?"},
        BadText{"ms-poe(1.2)", 8, "NAME=VALUE"}, BadText{"ms-poe(min=1.2, min=1.3)", 17, "twice"},
        BadText{"ms-poe(first_layer=1, layers=3-4)", 23, "Leave one"},
        BadText{"ms-poe(min=[1,2])", 8, "not a list"}, BadText{"ms-poe(min=1.2", 15, "ends"},
        BadText{"ms-poe(min=1.2,)", 16, "an argument"}, BadText{"ms-poe(min=)", 12, "a value"},
        BadText{"pi(0)", 4, "0.01"}, BadText{"pi(-1.5)", 4, "0.01 to"},
        BadText{"pi(nan)", 4, "number"}, BadText{"pi(inf)", 4, "number"},
        BadText{"pi(1e999)", 4, "number"}, BadText{"pi(1,5)", 6, "NAME=VALUE"},
        BadText{"pi(1.5) pi(2)", 9, "'+' or the end"}, BadText{"pi(1.5))", 8, "'+' or the end"},
        BadText{"pi(1.5) + ", 11, "ends"},
        BadText{"pi(1.5) + ms-poe", 11, "second position scheme"},
        BadText{"none + none", 8, "second position scheme"}, BadText{"none(1)", 6, "no arguments"},
        BadText{"none(a=1)", 6, "It takes none"}, BadText{"channel(100)", 1, "'factor'"},
        BadText{"channel(factor=1)", 1, "'channel'"},
        BadText{"channel(1.5, factor=1)", 9, "integer"},
        BadText{"channel(-1, factor=1)", 9, "Allowed: 0 to"},
        BadText{"channel([], factor=1)", 10, "a value"},
        BadText{"channel([1,2], factor=[1])", 16, "1 factors for 2 channels"},
        BadText{"channel([1,1], factor=2)", 1, "twice in the same layer"},
        BadText{"channel(1, factor=2) + channel(1, factor=3, layers=4)", 24, "twice"},
        BadText{"channel(1, factor=1, layers=8-2)", 29, "backwards"},
        BadText{"channel(1, factor=1, layers=[1,8-2])", 32, "backwards"},
        BadText{"channel(1, factor=1, layers=-2)", 29, "layers must be"},
        BadText{"channel(1, factor=1, layers=2-)", 29, "layers must be"},
        BadText{"channel(1, factor=1, layers=[all])", 30, "layers must be"},
        BadText{"channel(1, factor=1, rows=last:0)", 32,
                "'last:N': 0 is out of range. Allowed: 1 to"},
        BadText{"channel(1, factor=1, rows=last:N)", 27, "last:16"},
        BadText{"channel(1, factor=1, rows=lsat)", 27, "Did you mean 'last'?"},
        BadText{"crop", 1, "'span'"}, BadText{"crop(gold)", 6, "NAME=VALUE"},
        BadText{"crop(span=)", 11, "a value"}, BadText{"crop(span=6:4)", 11, "none"},
        BadText{"crop(span=6:6)", 11, "none"}, BadText{"crop(span=400-600)", 11, "400:600"},
        BadText{"crop(span=-4:6)", 11, "400:600"}, BadText{"crop(span=4:)", 11, "400:600"},
        BadText{"crop(span=\"\")", 11, "no name"}, BadText{"crop(span=\"a)", 11, "not closed"},
        BadText{"crop(span=[a,b])", 6, "not a list"},
        BadText{"crop(span=a, keep=last)", 19, "first | none"}, BadText{"move(span=a)", 1, "'to'"},
        BadText{"move(span=a, to=shift:N)", 17, "shift:-200"},
        BadText{"move(span=a, to=shift:x)", 23, "integer"},
        BadText{"move(span=a, to=start)", 17, "begin"},
        BadText{"boost(span=a, factor=1e4)", 22, "Allowed: -1000 to 1000"},
        BadText{"boost(span=a, factor=0, renormalise=yes)", 15, "above 0"},
        BadText{"boost(span=a, renormalise=true)", 27, "no | yes"},
        BadText{"ablate(with=zero)", 1, "'head'"}, BadText{"ablate(12)", 8, "L12H3"},
        BadText{"ablate(L1H)", 8, "not a head"}, BadText{"ablate(L-1H2)", 8, "not a head"},
        BadText{"ablate(H1L2)", 8, "not a head"}, BadText{"ablate([L1H1,L1H1])", 14, "twice"},
        BadText{"ablate(L1H1, with=noise)", 19, "zero | mean"},
        BadText{"temperature(L1H1)", 1, "'temperature'"},
        BadText{"temperature(L1H1, 0)", 19, "0.001"},
        BadText{"temperature(L1H1, 2, last)", 22, "NAME=VALUE"},
        BadText{"temperature(rows=all, L1H1)", 23, "NAME=VALUE"},
        BadText{"pi(\xe2\x88\x92"
                "1.5)",
                4, "\xe2\x88\x92"},
        BadText{"\xc3\xa9\xc3\xa9", 1, "\xc3\xa9"}, BadText{"pi(1.5)\n", 8, "control character"}));

TEST(InterventionText, RandomInterventionsRoundTrip) {
  std::mt19937_64 random(20240607);
  for (int i = 0; i < 5000; ++i) {
    const Intervention intervention = test::RandomIntervention(random);
    const std::string text = PrintIntervention(intervention);
    ASSERT_EQ(ParseIntervention(text), intervention) << text;
    ASSERT_EQ(Canonical(text), text);
  }
}

TEST(InterventionText, RandomTextNeverDoesMoreThanThrowAnError) {
  const std::vector<std::string> pieces = {"ms-poe",
                                           "pi",
                                           "channel",
                                           "none",
                                           "(",
                                           ")",
                                           "[",
                                           "]",
                                           "=",
                                           ",",
                                           "+",
                                           " ",
                                           "-",
                                           "1.5",
                                           "1e",
                                           "e+5",
                                           "layers",
                                           "factor",
                                           "rows",
                                           "last",
                                           ":",
                                           "16",
                                           "8-25",
                                           "all",
                                           "\xff",
                                           "\xe2\x88",
                                           std::string(1, '\0'),
                                           "mode",
                                           "rank",
                                           "min",
                                           "max",
                                           "nan",
                                           "\t",
                                           "99999999999999999999",
                                           "crop",
                                           "ablate",
                                           "L1H2",
                                           "span",
                                           "\"",
                                           "yarn",
                                           "self-extend",
                                           "infini",
                                           "nope",
                                           "base",
                                           "4:6"};
  std::mt19937_64 random(7);
  int parsed = 0;
  for (int i = 0; i < 50000; ++i) {
    std::string text;
    for (uint64_t j = 0; j <= random() % 12; ++j) text += pieces[random() % pieces.size()];
    try {
      const Intervention read = ParseIntervention(text);
      ASSERT_EQ(ParseIntervention(PrintIntervention(read)), read) << text;
      ++parsed;
    } catch (const Error& error) {
      ASSERT_THAT(error.what(), HasSubstr("column ")) << text;
    }
  }
  EXPECT_GT(parsed, 100) << "the pieces should make some good texts too";
}

TEST(InterventionText, ADamagedGoodTextNeverDoesMoreThanThrowAnError) {
  const std::string good = "ms-poe(min=1.2, layers=[2-8,12]) + channel([1,2], factor=[-1,0])";
  for (size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_THAT(TextError(good.substr(0, cut)),
                testing::AnyOf(HasSubstr("column "), HasSubstr("no error: ms-poe(")));
  }
}

TEST(NearestWord, FindsTyposAndNothingFar) {
  const std::vector<std::string> known = {"none", "pi", "ms-poe", "channel"};
  EXPECT_EQ(NearestWord("ms-peo", known), "ms-poe");
  EXPECT_EQ(NearestWord("mspoe", known), "ms-poe");
  EXPECT_EQ(NearestWord("pj", known), "pi");
  EXPECT_EQ(NearestWord("temperature", known), "");
  EXPECT_EQ(NearestWord("answer", {"sinks", "answer_attribution"}), "answer_attribution");
  EXPECT_EQ(NearestWord("an", {"answer_attribution"}), "");
  EXPECT_EQ(NearestWord(std::string(1 << 20, 'x'), known), "");
}

}  // namespace
}  // namespace midscope
