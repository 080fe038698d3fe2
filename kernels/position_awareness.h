// SPDX-License-Identifier: MIT
// Scores of heads. Ms-PoE orders heads by a position-awareness score (arXiv 2403.04797, Eq. 1;
// seed-facts A): the share of keys whose attention weight from the last query is at least alpha
// times the mean weight, i.e. alpha / key_rows, because a softmax row sums to 1.
#pragma once

#include <cstdint>

namespace midscope::kernels {

inline constexpr double kAwarenessAlpha = 3;  // as in the paper and the public code

enum class ThresholdRule {
  kAtLeast,  // weight >= alpha / key_rows, as in the paper
  kGreater,  // weight >  alpha / key_rows, as in the public code
};

// The threshold of attention weight from which a key is counted.
struct AwarenessThreshold {
  ThresholdRule rule = ThresholdRule::kAtLeast;
  double alpha = kAwarenessAlpha;  // above 0

  // Returns the threshold weight, in float32 as in the public code's comparison of float32 tensors.
  float Weight(int64_t key_rows) const {
    return static_cast<float>(alpha) / static_cast<float>(key_rows);
  }
  bool operator==(const AwarenessThreshold&) const = default;
};

// Counts the keys whose weight reaches the threshold, per head: weights [heads, key_rows] float32,
// counts [heads]. Counts are integers, so that ties between heads are exact.
void CountAttendedKeys(const float* weights, int64_t heads, int64_t key_rows,
                       const AwarenessThreshold& threshold, int64_t* counts);

// Sets counted [key_rows] to 1 for keys whose weight reaches the threshold, else 0.
void MarkAttendedKeys(const float* weights, int64_t key_rows, const AwarenessThreshold& threshold,
                      uint8_t* counted);

// Returns the entropy of one row of weights [key_rows] in nats, between 0 and log(key_rows). 0 log
// 0 counts as 0.
double RowEntropy(const float* weights, int64_t key_rows);

}  // namespace midscope::kernels
