// SPDX-License-Identifier: MIT
#include "probes/sweep/chosen_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> AllPlaces() { return {1, 5, 10, 15, 20}; }

std::vector<size_t> Chosen(const std::string& text, const std::vector<std::string>& texts = {}) {
  return ParseChosenPlaces(text, AllPlaces(), texts);
}

std::string Refusal(const std::string& text) {
  try {
    Chosen(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
  return "";
}

TEST(ChosenPlaces, AreRanksRangesOrPrintedShares) {
  EXPECT_THAT(Chosen("10"), ElementsAre(2));
  EXPECT_THAT(Chosen("20, 1"), ElementsAre(0, 4));
  EXPECT_THAT(Chosen("5-15"), ElementsAre(1, 2, 3));
  const std::vector<std::string> shares = {"0 %", "21 %", "47 %", "74 %", "100 %"};
  EXPECT_THAT(Chosen("47%,100 %", shares), ElementsAre(2, 4));
  EXPECT_EQ(ChosenPlacesText({2, 4}, AllPlaces(), {}), "places 10, 20 of 1, 5, 10, 15, 20");
  EXPECT_EQ(ChosenPlacesText({1}, AllPlaces(), shares),
            "place 21 % of 0 %, 21 %, 47 %, 74 %, 100 %");
}

TEST(ChosenPlaces, OtherPlacesAreRefusedWithTheKnownOnes) {
  EXPECT_THAT(Refusal("7"), HasSubstr("'7' is not a place of the sweep"));
  EXPECT_THAT(Refusal("7"), HasSubstr("The places of the sweep are 1, 5, 10, 15, 20"));
  EXPECT_THAT(Refusal("6-9"), HasSubstr("contains no place"));
  EXPECT_THAT(Refusal("5,1-5"), HasSubstr("occurs twice"));
  EXPECT_THAT(Refusal("x"), HasSubstr("is not a place"));
  EXPECT_THAT(Refusal("1,"), HasSubstr("is not a place"));
}

TEST(ChosenPlaces, ResultsKeepTheirNumbersAtTheChosenPlaces) {
  SweepPlan plan;
  plan.places = {1, 5, 10};
  plan.place_shares = {0, 0.5, 1};
  plan.settings = {ReadSetting("none"), ReadSetting("pi(1.5)")};
  SweepResult result;
  SampleOutcome outcome;
  outcome.answer_nll = {1, 2, 3, 4, 5, 6};
  outcome.correct = {1, 0, 1, 0, 1, 0};
  outcome.answer_tokens = {7, 8, 9};
  outcome.gold_rank = {1, 2, 3};
  for (int i = 0; i < 18; ++i) outcome.rouge.push_back(i);
  outcome.setting_seconds = {0.5, 0.25};
  result.outcomes = {outcome};
  result.tests.resize(1);
  KeepPlaces({0, 2}, plan, result);
  EXPECT_THAT(plan.places, ElementsAre(1, 10));
  EXPECT_THAT(plan.place_shares, ElementsAre(0, 1));
  const SampleOutcome& kept = result.outcomes.front();
  EXPECT_THAT(kept.answer_nll, ElementsAre(1, 3, 4, 6));
  EXPECT_THAT(kept.correct, ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(kept.answer_tokens, ElementsAre(7, 9));
  EXPECT_THAT(kept.gold_rank, ElementsAre(1, 3));
  EXPECT_THAT(kept.rouge, ElementsAre(0, 1, 2, 6, 7, 8, 9, 10, 11, 15, 16, 17));
  EXPECT_THAT(kept.setting_seconds, ElementsAre(0.5, 0.25));
  EXPECT_TRUE(result.tests.empty());
}

}  // namespace
}  // namespace midscope
