// SPDX-License-Identifier: MIT
// Contracts: each scorer gives the number of the published definition on cases calculated by hand;
// normaliser, F1, subspan match, both ROUGE packages and difflib's ratio agree with Python on 200
// random pairs (golden/make_scores.py); text that ends inside a UTF-8 character is handled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "data/scorers/answer_text.h"
#include "data/scorers/code_similarity.h"
#include "data/scorers/match_scores.h"
#include "data/scorers/order_scores.h"
#include "data/scorers/rouge.h"
#include "tests/paths.h"

namespace midscope {
namespace {

constexpr double kRounding = 1e-12;

TEST(Normaliser, HasTheOrderOfThePublishedOne) {
  EXPECT_EQ(NormaliseAnswer("The U.S.-A!"), "usa");
  EXPECT_EQ(NormaliseAnswer("a an the"), "");
  EXPECT_EQ(NormaliseAnswer("  An\tapple\n a  day "), "apple day");
  EXPECT_EQ(NormaliseAnswer("theatre banana"), "theatre banana");
  EXPECT_EQ(NormaliseAnswer("a-the"), "athe");  // punctuation is removed first and leaves no gap
  EXPECT_EQ(NormaliseAnswer("Café “the” Straße"), "café “ ” straße");
  EXPECT_EQ(NormaliseAnswer("\xC3"), "\xC3");
}

TEST(AnswerText, CutsAsTheSourcesDo) {
  const std::string generated = "\n Paris. \nIt is in France.\n";
  EXPECT_EQ(CutAnswer(generated, AnswerCut::kWhole), generated);
  // The same loss of text occurs in Ms-PoE's code.
  EXPECT_EQ(CutAnswer(generated, AnswerCut::kFirstLine), "");
  EXPECT_EQ(CutAnswer(generated, AnswerCut::kStrippedFirstLine), "Paris. ");
  EXPECT_EQ(CutAnswer(generated, AnswerCut::kFirstLineAfterNewlines), " Paris. ");
  EXPECT_EQ(CutAnswer("\n\n", AnswerCut::kFirstLineAfterNewlines), "");
  EXPECT_EQ(StripText(" \x1c\t a b \xC2\xA0\n"), "a b");
  EXPECT_EQ(StripText(" \n"), "");
}

// The expected text is that of Python 3.11's str.lower(), with Unicode's Final_Sigma.
TEST(LowerText, AGreekSigmaThatEndsAWordIsFinal) {
  const std::vector<std::pair<std::string, std::string>> lower = {
      {"\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2"},
      {"\u039f\u0394\u039f\u03a3 \u0395\u0399\u039d\u0391\u0399",
       "\u03bf\u03b4\u03bf\u03c2 \u03b5\u03b9\u03bd\u03b1\u03b9"},
      {"\u03a3", "\u03c3"},
      {"\u03a3\u0391\u03a3", "\u03c3\u03b1\u03c2"},
      {"\u0391\u03a3.\u0392", "\u03b1\u03c3.\u03b2"},
      {"\u0391\u03a3. \u0392", "\u03b1\u03c2. \u03b2"},
      {"\u0391.\u03a3", "\u03b1.\u03c2"},
      {"\u0391'\u03a3'", "\u03b1'\u03c2'"},
      {"\u0391\u03a3'\u0392", "\u03b1\u03c3'\u03b2"},
      {"1\u03a3", "1\u03c3"},
      {"\u0391\u03a31", "\u03b1\u03c21"},
      {"\u0391\u0301\u03a3\u0301", "\u03b1\u0301\u03c2\u0301"},
      {"\u0391\u03a3\u200d", "\u03b1\u03c2\u200d"},
      {"a\u03a3b", "a\u03c3b"},
      {"\u00aa\u03a3", "\u00aa\u03c2"},
      {"\u0391\u03a3\u2161", "\u03b1\u03c3\u2171"},
      {"\u4e2d\u03a3", "\u4e2d\u03c3"},
      {"\u03a3\u03a3\u03a3", "\u03c3\u03c3\u03c2"},
      {"\u0391\u03a3\u2019\u03a3", "\u03b1\u03c3\u2019\u03c2"},
      {"\u0130\u03a3", "i\u0307\u03c2"},
      {"\u0391\u03a3\U0001f600", "\u03b1\u03c2\U0001f600"},
      {"\u0391\u02b0\u03a3", "\u03b1\u02b0\u03c2"},
      {"\u24d0\u03a3", "\u24d0\u03c2"},
      {"\u0391\u03a3-\u0392", "\u03b1\u03c2-\u03b2"}};
  for (const auto& [text, expected] : lower) EXPECT_EQ(LowerText(text), expected) << text;
  EXPECT_EQ(LowerText("\xCE\x91\xCE\xA3\xFF"), "\xCE\xB1\xCF\x82\xFF")
      << "a stray byte is no letter";
  EXPECT_EQ(SubspanExactMatch("\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2"), 1);
  EXPECT_EQ(SubstringMatch("\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2"), 1);
  EXPECT_EQ(TokenF1("\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2"), 1);
}

TEST(MatchScores, KeyValueIsASubstringWithoutCase) {
  EXPECT_EQ(SubstringMatch("It is \"ABCD-12\".", "abcd-12"), 1);
  EXPECT_EQ(SubstringMatch("abcd 12", "abcd-12"), 0);
}

TEST(MatchScores, SubspanMatchesInsideWordsToo) {
  EXPECT_EQ(SubspanExactMatch("It was the Beatles!", "Beatles"), 1);
  EXPECT_EQ(SubspanExactMatch("usable", "The U.S.-A!"), 1);
  EXPECT_EQ(SubspanExactMatch("anything", "the"), 1);  // a reference whose normal form is empty
  EXPECT_EQ(SubspanExactMatch("Paris", "Paris, France"), 0);
  EXPECT_EQ(ExactMatch("The cat.", "cat"), 1);
  EXPECT_EQ(ExactMatch("cats", "cat"), 0);
}

TEST(MatchScores, F1CountsWordsWithRepetition) {
  // Precision and recall are 2/2 and 2/3.
  EXPECT_NEAR(TokenF1("the cat sat", "cat sat down"), 0.8, kRounding);
  EXPECT_NEAR(TokenF1("cat cat cat", "cat"), 0.5, kRounding);
  EXPECT_EQ(TokenF1("the", "the"), 0);
}

TEST(LabelScores, FirstAndLastInteger) {
  EXPECT_EQ(FirstInteger("line 7 holds <01234>."), "7");
  EXPECT_EQ(LastInteger("line 7 holds <01234>."), "1234");
  EXPECT_EQ(LastInteger("-000"), "0");
  EXPECT_EQ(FirstInteger("none"), std::nullopt);
  EXPECT_EQ(FirstIntegerMatch("12 or 13", "12"), 1);
  EXPECT_EQ(LastIntegerMatch("12 or 13", "12"), 0);
  EXPECT_EQ(FirstIntegerMatch("no number", "no number"), 0);
  EXPECT_EQ(LastIntegerMatch("123456789012345678901234567890", "123456789012345678901234567890"),
            1);
}

TEST(LabelScores, ClassesShareTheirPoint) {
  const std::vector<std::string> classes = {"Date", "Person", "Other date", "Other"};
  EXPECT_EQ(ClassScore("Person", "Person", classes), 1);
  EXPECT_EQ(ClassScore("Person or Date", "Person", classes), 0.5);
  EXPECT_EQ(ClassScore("Date", "Person", classes), 0);
  // "Other" is part of the class's name.
  EXPECT_EQ(ClassScore("Other date", "Other date", classes), 1);
  EXPECT_EQ(ClassScore("", "Person", classes), 0);
  // After removing a class, the public code skips the next one.
  const std::vector<std::string> nested = {"a", "ab", "abc"};
  EXPECT_EQ(ClassScore("abc", "abc", nested), 0.5);
  EXPECT_EQ(ClassScore("abc", "abc", nested, false), 1);
}

TEST(LabelScores, NumbersAreSharesOfAllNumbers) {
  EXPECT_EQ(RetrievalScore("Paragraph 17", "Paragraph 17"), 1);
  EXPECT_EQ(RetrievalScore("17, 3, 17, 4", "Paragraph 17"), 0.5);
  EXPECT_EQ(RetrievalScore("段落3", "段落3"), 1);
  EXPECT_EQ(RetrievalScore("017", "Paragraph 17"), 0);  // numbers are compared as text
  EXPECT_EQ(RetrievalScore("none", "Paragraph 17"), 0);
  EXPECT_THROW(RetrievalScore("17", "17"), Error);
  EXPECT_EQ(CountScore("There are 5.", "5"), 1);
  EXPECT_EQ(CountScore("5 of 10", "5"), 0.5);
}

TEST(LabelScores, ChoiceIsTheFirstLetterThatStandsAlone) {
  EXPECT_EQ(ChoiceLetterMatch("DNA says (B) or C", "(B) Because"), 1);
  EXPECT_EQ(ChoiceLetterMatch("A_ éA B", "B"), 1);
  EXPECT_EQ(ChoiceLetterMatch("E", "B"), 0);
}

TEST(CodeSimilarity, TakesTheFirstLineOfCode) {
  EXPECT_EQ(CodeSimilarity("\n```python\n# add\nreturn a + b\nmore", "return a + b"), 1);
  EXPECT_EQ(CodeSimilarity("// a\n# b", "x"), 0);
  EXPECT_EQ(CodeSimilarity("abcd", "bcde"), 0.75);
  EXPECT_EQ(CodeSimilarity("", ""), 1);
  EXPECT_EQ(CodeSimilarity("a", ""), 0);
}

TEST(OrderScores, ConcordanceIsTheShareOfPairs) {
  EXPECT_EQ(OrderConcordance("1, 2, 3, 4", "1, 2, 3, 4"), 1);
  EXPECT_EQ(OrderConcordance("4, 3, 2, 1", "1, 2, 3, 4"), 0);
  EXPECT_NEAR(OrderConcordance("2, 1, 3, 4", "1, 2, 3, 4"), 5. / 6, kRounding);
  EXPECT_NEAR(OrderConcordance("[3,1,2]", "1 3 2"), 2. / 3, kRounding);
  for (const char* wrong : {"1, 2, 3", "1, 2, 3, 3", "1, 2, 3, 5", "0, 1, 2, 3", "", "none",
                            "1, 2, 3, 99999999999999999999"}) {
    EXPECT_EQ(OrderConcordance(wrong, "1, 2, 3, 4"), 0) << wrong;
  }
}

TEST(OrderScores, TimelineTakesTheWholeOrder) {
  EXPECT_EQ(OrderMatch("The order is 2, 1, 3.", "2,1,3"), 1);
  EXPECT_EQ(OrderMatch("1, 2, 3", "2,1,3"), 0);
  EXPECT_EQ(OrderMatch("IV. The 9 walls of 1204\nII. A gate\nIX. Xavier", "IV,II,IX"), 1);
  EXPECT_EQ(OrderMatch("4, 2, 9", "IV,II,IX"), 0);
  EXPECT_EQ(OrderMatch("", ""), 0);
}

TEST(OrderScores, PercentagesDecayByHalfEachTenPoints) {
  EXPECT_EQ(PercentageSimilarity("About 60%.", "60%"), 1);
  EXPECT_EQ(PercentageSimilarity("50%", "60%"), 0.5);
  EXPECT_NEAR(PercentageSimilarity("7 of 10: 62.5% or 3%", "60%"), std::exp2(-0.25), kRounding);
  EXPECT_EQ(PercentageSimilarity("60", "60%"), 0);
  EXPECT_THROW(PercentageSimilarity("60%", "sixty"), Error);
}

TEST(Rouge, GeometricMeans) { EXPECT_NEAR(GeometricMean({0.5, 0.25, 0.125}), 0.25, kRounding); }

TEST(Rouge, EmptyAndBrokenTextsScoreNothing) {
  for (const char* text : {"", "...", "\xE2\x82"}) {
    EXPECT_EQ(RougeOfSets(text, "a b").rouge_l, 0) << text;
    EXPECT_EQ(RougeOfSets("a b", text).rouge1, 0) << text;
    EXPECT_EQ(RougeOfCounts(text, "a b").rouge_l, 0) << text;
    EXPECT_EQ(RougeOfCounts("a b", text).rouge2, 0) << text;
  }
}

TEST(Scorers, AgreeWithPythonOnRandomPairs) {
  std::ifstream file(std::string(MIDSCOPE_TESTS "/data/golden") + "/scores.jsonl");
  int pairs = 0;
  for (std::string line; std::getline(file, line); ++pairs) {
    const nlohmann::json golden = nlohmann::json::parse(line);
    const std::string prediction = golden["prediction"];
    const std::string reference = golden["reference"];
    SCOPED_TRACE(line);
    EXPECT_EQ(NormaliseAnswer(prediction), golden["normalised"].get<std::string>());
    EXPECT_EQ(SubspanExactMatch(prediction, reference), golden["subspan"].get<double>());
    EXPECT_NEAR(TokenF1(prediction, reference), golden["f1"].get<double>(), kRounding);
    EXPECT_NEAR(MatchingRatio(prediction, reference), golden["ratio"].get<double>(), kRounding);
    const RougeScores of_sets = RougeOfSets(prediction, reference);
    const RougeScores of_counts = RougeOfCounts(prediction, reference);
    EXPECT_NEAR(of_sets.rouge1, golden["rouge"][0].get<double>(), kRounding);
    EXPECT_NEAR(of_sets.rouge2, golden["rouge"][1].get<double>(), kRounding);
    EXPECT_NEAR(of_sets.rouge_l, golden["rouge"][2].get<double>(), kRounding);
    EXPECT_NEAR(of_counts.rouge1, golden["rouge_score"][0].get<double>(), kRounding);
    EXPECT_NEAR(of_counts.rouge2, golden["rouge_score"][1].get<double>(), kRounding);
    EXPECT_NEAR(of_counts.rouge_l, golden["rouge_score"][2].get<double>(), kRounding);
  }
  EXPECT_EQ(pairs, 200);
}

}  // namespace
}  // namespace midscope
