// SPDX-License-Identifier: MIT
// Which trial is chosen, for given losses.
#include "probes/measure/channels/channel_validation.h"
#include "probes/measure/channels/channel_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace midscope {
namespace {

ValidationPlan Plan(std::vector<ChannelTrial> trials) {
  ValidationPlan plan;
  plan.task = "list:lines=20";
  plan.places = {1, 20};
  plan.layers = {false, {{8, 25}}};
  plan.trials = std::move(trials);
  return plan;
}

// Ten examples. Element [setting] defines the setting's loss on example e: base + slope * e, equal
// at both places except for half a nat.
SweepResult Losses(const std::vector<std::pair<double, double>>& settings) {
  SweepResult result;
  for (int64_t example = 9; example >= 0; --example) {  // in another order, as in resumed runs
    SampleOutcome outcome;
    outcome.sample = example;
    for (const auto& [base, slope] : settings) {
      const double loss = base + slope * static_cast<double>(example);
      outcome.answer_nll.insert(outcome.answer_nll.end(), {loss - 0.5, loss + 0.5});
      outcome.correct.insert(outcome.correct.end(), {0, 0});
    }
    result.outcomes.push_back(outcome);
  }
  return result;
}

int64_t Chosen(const Record& record) { return std::get<int64_t>(record.attributes.at("chosen")); }
const std::vector<double>& Numbers(const Record& record, const std::string& array) {
  return std::get<std::vector<double>>(record.FindArray(array)->data);
}

TEST(ChannelValidation, TheLeastMeanLossIsChosenWhereItBeatsNone) {
  const ValidationPlan plan = Plan({{100, 0.5, false}, {100, -1, false}, {7, -1, false}});
  const Record record =
      ChannelValidationRecord(plan, Losses({{5, 0.1}, {4.9, 0.1}, {4, 0.1}, {6, 0}}));
  record.Check();
  EXPECT_EQ(Chosen(record), 2);
  EXPECT_EQ(std::get<std::string>(record.attributes.at("setting")),
            "channel(100, factor=-1, layers=8-25)");
  EXPECT_NEAR(Numbers(record, "loss")[0], 5.45, 1e-12);
  EXPECT_NEAR(Numbers(record, "loss_difference")[2], -1, 1e-12);
  // The test is paired, so a loss that all settings share on an example has no effect on the
  // differences.
  EXPECT_NEAR(Numbers(record, "loss_difference_high")[2], -1, 1e-9);
  EXPECT_NEAR(Numbers(record, "place_loss")[0], 4.95, 1e-12);
  EXPECT_NEAR(Numbers(record, "place_loss")[5], 4.95, 1e-12);
}

TEST(ChannelValidation, NoneIsChosenWhereNothingBeatsIt) {
  const ValidationPlan plan = Plan({{100, 0.5, false}, {100, -1, false}});
  const Record worse = ChannelValidationRecord(plan, Losses({{5, 0}, {5.5, 0}, {5.2, 0}}));
  EXPECT_EQ(Chosen(worse), -1);
  EXPECT_EQ(std::get<int64_t>(worse.attributes.at("best")), 2);
  EXPECT_EQ(std::get<std::string>(worse.attributes.at("setting")), "none");
  // The mean is lower only by chance: -0.05 with a spread of 1.
  const Record unclear = ChannelValidationRecord(plan, Losses({{5, 0}, {4.05, 0.2}, {6, 0}}));
  EXPECT_LT(Numbers(unclear, "loss_difference")[1], 0);
  EXPECT_EQ(Chosen(unclear), -1);
}

TEST(ChannelValidation, AControlIsNeverChosen) {
  const ValidationPlan plan = Plan({{100, -1, false}, {55, -1, true}});
  const Record record = ChannelValidationRecord(plan, Losses({{5, 0}, {4.5, 0}, {1, 0}}));
  EXPECT_EQ(Chosen(record), 1);
  EXPECT_EQ(std::get<int64_t>(record.attributes.at("best_control")), 2);
}

TEST(ChannelValidation, ControlsAreOtherChannelsInTheSameNumber) {
  const std::vector<int64_t> candidates = {0, 3, 5, 19};
  const std::vector<int64_t> control = ControlChannels(candidates, 20, 1);
  EXPECT_EQ(control.size(), 4u);
  EXPECT_EQ(std::set<int64_t>(control.begin(), control.end()).size(), 4u);
  for (const int64_t channel : control) {
    EXPECT_EQ(std::count(candidates.begin(), candidates.end(), channel), 0);
  }
  EXPECT_EQ(control, ControlChannels(candidates, 20, 1));
  EXPECT_NE(control, ControlChannels(candidates, 20, 2));
  EXPECT_EQ(ControlChannels({0, 1, 2}, 4, 1), std::vector<int64_t>{3});
}

TEST(ChannelValidation, PublishedLayersAreThoseOfTable5) {
  EXPECT_EQ(PublishedLayers(28)->Text(), "10-22");
  EXPECT_EQ(PublishedLayers(32)->Text(), "10-25");
  EXPECT_EQ(PublishedLayers(40)->Text(), "10-34");
  EXPECT_EQ(PublishedLayers(48)->Text(), "10-42");
  EXPECT_FALSE(PublishedLayers(30));
}

// The public code's loss is the mean over the answer's tokens, with example i at place i modulo 2,
// and the mean rounded to 4 decimals.
TEST(ChannelValidation, TheLossOfThePublicCodeIsAMeanOverTokensAtOnePlaceAnExample) {
  ValidationPlan plan = Plan({{100, -1, false}});
  plan.loss = kCodeLoss;
  SweepResult result = Losses({{5, 0.1}, {4, 0.1}});
  for (SampleOutcome& outcome : result.outcomes) outcome.answer_tokens = {3, 7};
  const Record record = ChannelValidationRecord(plan, result);
  record.Check();
  // Even examples have (5 + 0.1 e - 0.5) / 3, odd ones (5 + 0.1 e + 0.5) / 7.
  double sum = 0;
  for (int e = 0; e < 10; e += 2) sum += (4.5 + 0.1 * e) / 3 + (5.5 + 0.1 * (e + 1)) / 7;
  EXPECT_DOUBLE_EQ(Numbers(record, "loss")[0], std::round(sum / 10 * 1e4) / 1e4);
  EXPECT_NEAR(Numbers(record, "place_loss")[0], (4.5 + 0.4) / 3, 1e-12);
  EXPECT_NEAR(Numbers(record, "place_loss")[1], (5.5 + 0.5) / 7, 1e-12);
  EXPECT_NE(std::get<std::string>(record.attributes.at("loss_rule")).find("public code"),
            std::string::npos);
}

// Tests each part of that loss separately.
TEST(ChannelValidation, TheLossIsPerTokenOrSummedAtOnePlaceOrAll) {
  ValidationPlan plan = Plan({{100, -1, false}});
  SweepResult result = Losses({{5, 0.1}, {4, 0.1}});
  for (SampleOutcome& outcome : result.outcomes) outcome.answer_tokens = {3, 7};
  const auto loss = [&](bool per_token, bool one_place) {
    plan.loss = {per_token, one_place, false};
    return Numbers(ChannelValidationRecord(plan, result), "loss")[0];
  };
  double token_all = 0;
  double summed_one = 0;
  double token_one = 0;
  for (int e = 0; e < 10; ++e) {
    const double first = 5 + 0.1 * e - 0.5;
    const double second = 5 + 0.1 * e + 0.5;
    token_all += (first / 3 + second / 7) / 2 / 10;
    summed_one += (e % 2 == 0 ? first : second) / 10;
    token_one += (e % 2 == 0 ? first / 3 : second / 7) / 10;
  }
  EXPECT_NEAR(loss(false, false), 5.45, 1e-12);
  EXPECT_NEAR(loss(true, false), token_all, 1e-12);
  EXPECT_NEAR(loss(false, true), summed_one, 1e-12);
  EXPECT_NEAR(loss(true, true), token_one, 1e-12);
}

TEST(ChannelValidation, MiddleLayersOfAnyModel) {
  EXPECT_EQ(MiddleLayers(30).Text(), "8-25");
  EXPECT_EQ(MiddleLayers(32).Text(), "8-26");
  EXPECT_EQ(MiddleLayers(12).Text(), "3-10");
  for (int64_t layers = 1; layers < 100; ++layers) {
    const auto range = MiddleLayers(layers).ranges.front();
    EXPECT_LE(range.first, range.last);
    EXPECT_LT(range.last, layers);
  }
}

}  // namespace
}  // namespace midscope
