// SPDX-License-Identifier: MIT
// Contract: the experts that a row uses are those with the largest scores, of equal ones the first;
// their weights are the scores of transformers' routers, worked out by hand here, to 1e-6.
#include "core/decoder/expert_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace midscope {
namespace {

std::vector<float> Choose(const ExpertSettings& settings, std::vector<float> logits,
                          const std::vector<float>& bias = {}) {
  ChooseExperts(settings, bias, logits);
  return logits;
}

void ExpectNear(const std::vector<float>& values, const std::vector<float>& wanted) {
  ASSERT_EQ(values.size(), wanted.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], wanted[i], 1e-6) << i;
}

float Sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

TEST(ExpertChoice, SoftmaxIsOverAllExpertsUnlessNormalised) {
  const std::vector<float> logits = {std::log(1.0f), std::log(4.0f), std::log(2.0f),
                                     std::log(3.0f)};
  ExpertSettings settings{.count = 4, .per_row = 2};
  ExpectNear(Choose(settings, logits), {0, 0.4f, 0, 0.3f});
  settings.normalised = true;
  ExpectNear(Choose(settings, logits), {0, 4.0f / 7, 0, 3.0f / 7});
}

TEST(ExpertChoice, LargeLogitsDoNotOverflow) {
  ExpectNear(Choose({.count = 3, .per_row = 1}, {1000.0f, -1000.0f, 999.0f}),
             {1.0f / (1.0f + std::exp(-1.0f)), 0, 0});
}

TEST(ExpertChoice, OfEqualScoresTheFirstIsTaken) {
  ExpectNear(Choose({.count = 4, .per_row = 2}, {0, 1, 1, 1}),
             {0, 1.0f / (3 + std::exp(-1.0f)), 1.0f / (3 + std::exp(-1.0f)), 0});
}

TEST(ExpertChoice, TheBiasChoosesAndDoesNotWeigh) {
  const ExpertSettings settings{
      .count = 3, .per_row = 1, .score = ExpertScore::kSigmoid, .choice_bias = true, .scale = 2.5};
  ExpectNear(Choose(settings, {1, 0.5f, -1}, {0, 0.3f, 0}), {0, 2.5f * Sigmoid(0.5f), 0});
}

// The largest counts with those close to it, the second without the largest; 1.5 is close to 2 of
// size 2 and to 1.9.
TEST(ExpertChoice, TheSparseMixerChoosesOneAfterAnother) {
  const ExpertSettings settings{
      .count = 4, .per_row = 2, .score = ExpertScore::kSparseMixer, .jitter = 0.15};
  const float first = 1 / (1 + std::exp(-0.1f) + std::exp(-0.5f));
  ExpectNear(Choose(settings, {1.5f, 2, 1.2f, 1.9f}), {0, first, 0, 1 / (1 + std::exp(-0.4f))});
  // A negative logit's own size counts.
  ExpectNear(Choose(settings, {-3, -2.3f, -5, -9}), {1.0f, 1 / (1 + std::exp(-0.7f)), 0, 0});
}

// The largest expert of all is in a group of which the second is small.
TEST(ExpertChoice, GroupsCountByTheirTwoLargest) {
  const ExpertSettings settings{
      .count = 6, .per_row = 2, .score = ExpertScore::kSigmoid, .groups = 3, .groups_per_row = 1};
  ExpectNear(Choose(settings, {3, -5, 1, 1.5f, 0, 0.5f}), {0, 0, Sigmoid(1), Sigmoid(1.5f), 0, 0});
}

}  // namespace
}  // namespace midscope
