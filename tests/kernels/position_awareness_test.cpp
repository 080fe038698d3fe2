// SPDX-License-Identifier: MIT
// Contract: counts are exact; a weight equal to the threshold 3 / key_rows (in float32) is counted
// by the paper's rule and not by the public code's.
#include "kernels/position_awareness.h"

#include <gtest/gtest.h>

#include <algorithm>
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
    CountAttendedKeys(weights.data(), 2, keys, {ThresholdRule::kAtLeast}, counts);
    EXPECT_EQ(counts[0], 2);
    EXPECT_EQ(counts[1], 1);
    CountAttendedKeys(weights.data(), 2, keys, {ThresholdRule::kGreater}, counts);
    EXPECT_EQ(counts[0], 1);
    EXPECT_EQ(counts[1], 1);
  }
}

TEST(CountAttendedKeys, AlphaMovesTheThreshold) {
  std::vector<float> weights(10, 0.02f);
  weights[3] = 0.25f;
  weights[7] = 0.4f;
  const auto count_of = [&](double alpha) {
    int64_t count = -1;
    CountAttendedKeys(weights.data(), 1, 10, {ThresholdRule::kAtLeast, alpha}, &count);
    return count;
  };
  EXPECT_EQ(count_of(0.2), 10);
  EXPECT_EQ(count_of(2), 2);
  EXPECT_EQ(count_of(3), 1);
  EXPECT_EQ(count_of(4.5), 0);
  EXPECT_EQ(AwarenessThreshold{}.Weight(10), 3.0f / 10.0f);
}

TEST(MarkAttendedKeys, MarksWhatIsCounted) {
  for (const ThresholdRule rule : {ThresholdRule::kAtLeast, ThresholdRule::kGreater}) {
    for (const double alpha : {0.5, 1.0, 3.0}) {
      std::vector<float> weights(40);
      const AwarenessThreshold threshold{rule, alpha};
      for (size_t key = 0; key < weights.size(); ++key)
        weights[key] = key % 7 == 0 ? threshold.Weight(40) : 0.01f * static_cast<float>(key % 11);
      std::vector<uint8_t> counted(weights.size(), 9);
      MarkAttendedKeys(weights.data(), 40, threshold, counted.data());
      int64_t count = 0;
      CountAttendedKeys(weights.data(), 1, 40, threshold, &count);
      EXPECT_EQ(std::count(counted.begin(), counted.end(), 1), count);
      EXPECT_EQ(std::count(counted.begin(), counted.end(), 0), 40 - count);
      EXPECT_EQ(counted[14], rule == ThresholdRule::kAtLeast ? 1 : 0);
    }
  }
}

TEST(CountAttendedKeys, UpToThreeKeysCannotAllReachIt) {
  const std::vector<float> weights = {0.5f, 0.5f};
  int64_t count = -1;
  CountAttendedKeys(weights.data(), 1, 2, {ThresholdRule::kAtLeast}, &count);
  EXPECT_EQ(count, 0);  // 3 / 2 exceeds every weight
}

TEST(CountAttendedKeys, EvenAttentionReachesItNowhere) {
  const std::vector<float> weights(64, 1.0f / 64);
  int64_t count = -1;
  CountAttendedKeys(weights.data(), 1, 64, {ThresholdRule::kAtLeast}, &count);
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
