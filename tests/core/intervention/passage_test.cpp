// SPDX-License-Identifier: MIT
#include "core/intervention/passage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;

// 60 tokens: three pieces of 10 from token 5 on, the second of which is gold.
Prompt PairPrompt() {
  Prompt prompt;
  prompt.ids.assign(60, 1);
  prompt.spans = {{"pair 1", 0, 0, 5, 15},
                  {"pair 2", 0, 0, 15, 24},
                  {"gold", 0, 0, 15, 24},
                  {"pair 3", 0, 0, 24, 35},
                  {"question", 0, 0, 40, 55}};
  return prompt;
}

std::string Resolved(const std::string& text, const Prompt& prompt) {
  return PrintIntervention(ResolvePassages(ParseIntervention(text), prompt));
}

std::string ErrorOf(const std::string& text, const Prompt& prompt) {
  try {
    return "no error: " + Resolved(text, prompt);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
}

TEST(Passages, BecomeTokens) {
  const Prompt prompt = PairPrompt();
  EXPECT_EQ(Resolved("crop(span=gold)", prompt), "crop(span=15:24, layers=all, keep=first)");
  EXPECT_EQ(Resolved("boost(span=\"pair 3\")", prompt),
            "boost(span=24:35, factor=2, renormalise=no, layers=all, rows=answer)");
  EXPECT_EQ(Resolved("move(span=question, to=shift:-3)", prompt),
            "move(span=40:55, to=shift:-3, layers=all, rows=answer)");
  EXPECT_EQ(Resolved("crop(span=59:60) + pi(2)", prompt),
            "pi(2) + crop(span=59:60, layers=all, keep=first)");
}

TEST(Passages, BeginAndEndAreThoseOfThePieces) {
  const Prompt prompt = PairPrompt();
  EXPECT_EQ(
      ResolvePassages(ParseIntervention("move(span=gold, to=begin)"), prompt).Find<Move>()->shift,
      5 - 15);
  EXPECT_EQ(
      ResolvePassages(ParseIntervention("move(span=gold, to=end)"), prompt).Find<Move>()->shift,
      35 - 24);
}

TEST(Passages, WithoutPiecesThePromptItselfHasBeginAndEnd) {
  Prompt prompt = PairPrompt();
  prompt.spans = {{"gold", 0, 0, 15, 24}, {"pair", 0, 0, 3, 4}, {"pair x", 0, 0, 3, 4}};
  EXPECT_EQ(
      ResolvePassages(ParseIntervention("move(span=gold, to=begin)"), prompt).Find<Move>()->shift,
      -15);
  EXPECT_EQ(
      ResolvePassages(ParseIntervention("move(span=gold, to=end)"), prompt).Find<Move>()->shift,
      60 - 24);
}

TEST(Passages, MissingOnesAreNamedWithThoseThatAreThere) {
  EXPECT_THAT(ErrorOf("crop(span=glod)", PairPrompt()),
              ::testing::AllOf(HasSubstr("span=glod"), HasSubstr("pair 1, pair 2, gold")));
  EXPECT_THAT(ErrorOf("boost(span=gold)", Prompt{}), HasSubstr("--span NAME=TEXT"));
  EXPECT_THAT(ErrorOf("boost(span=50:61)", PairPrompt()),
              HasSubstr("which has 60 tokens. span= of a term is counted in tokens"));
}

TEST(Passages, AnyPassagesStandForNamesUntilThereIsAPrompt) {
  const Intervention any = WithAnyPassages(ParseIntervention(
      "move(span=gold, to=end) + move(span=question, to=begin) + crop(span=gold) + boost(span=x)"));
  EXPECT_EQ(ResolvePassages(any, PairPrompt()), any);
  EXPECT_FALSE(any.Find<Move>()->span == any.All<Move>()[1].span);
}

}  // namespace
}  // namespace midscope
