// SPDX-License-Identifier: MIT
// Contract: counts are exact; a weight equal to the threshold 3 / key_rows (in float32) counts by
// the paper's rule and does not by the public code's.
#include "kernels/position_awareness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace midscope::kernels {
namespace {

TEST(CountAttendedKeys, TheThresholdItselfTellsTheRulesApart) {
  for (const int64_t keys : {7, 24, 100, 2048}) {
    const float threshold = 3.0f / static_cast<float>(keys);
    std::vector<float> weights(static_cast<size_t>(2 * keys), 0.0f);
    weights[0] = threshold;
    weights[1] = std::nextafter(threshold, 1.0f);
    weights[2] = std::nextafter(threshold, 0.0f);
    weights[static_cast<size_t>(keys)] = 1.0f;  // second head
    int64_t counts[2] = {-1, -1};
    CountAttendedKeys(weights.data(), 2, keys, ThresholdRule::kAtLeast, counts);
    EXPECT_EQ(counts[0], 2);
    EXPECT_EQ(counts[1], 1);
    CountAttendedKeys(weights.data(), 2, keys, ThresholdRule::kGreater, counts);
    EXPECT_EQ(counts[0], 1);
    EXPECT_EQ(counts[1], 1);
  }
}

TEST(CountAttendedKeys, UpToThreeKeysCannotAllReachIt) {
  const std::vector<float> weights = {0.5f, 0.5f};
  int64_t count = -1;
  CountAttendedKeys(weights.data(), 1, 2, ThresholdRule::kAtLeast, &count);
  EXPECT_EQ(count, 0);  // 3 / 2 is above any weight
}

TEST(CountAttendedKeys, EvenAttentionReachesItNowhere) {
  const std::vector<float> weights(64, 1.0f / 64);
  int64_t count = -1;
  CountAttendedKeys(weights.data(), 1, 64, ThresholdRule::kAtLeast, &count);
  EXPECT_EQ(count, 0);
}

// Within 1e-5 of the entropy in double.
TEST(RowEntropy, OfOneKeyOfAllAndBetween) {
  EXPECT_EQ(RowEntropy(nullptr, 0), 0);
  std::vector<float> weights(37, 0.0f);
  weights[36] = 1.0f;
  EXPECT_EQ(RowEntropy(weights.data(), 37), 0);
  weights[36] = 0.25f;
  weights[0] = 0.75f;
  EXPECT_NEAR(RowEntropy(weights.data(), 37), -0.25 * std::log(0.25) - 0.75 * std::log(0.75), 1e-6);
  weights.assign(37, 1.0f / 37);
  EXPECT_NEAR(RowEntropy(weights.data(), 37), std::log(37.0), 1e-5);
}

}  // namespace
}  // namespace midscope::kernels
