// SPDX-License-Identifier: MIT
// The scores by which Ms-PoE orders heads. Its position-awareness score (arXiv 2403.04797, Eq. 1;
// seed-facts A) is the share of keys whose attention weight from the last query reaches alpha times
// the mean, which is alpha / key_rows because a softmax row sums to 1.
#pragma once

#include <cstdint>

namespace midscope::kernels {

inline constexpr double kAwarenessAlpha = 3;  // as in the paper and the public code

enum class ThresholdRule {
  kAtLeast,  // weight >= alpha / key_rows, as in the paper
  kGreater,  // weight >  alpha / key_rows, as in the public code
};

// The weights at which a key is counted.
struct AwarenessThreshold {
  ThresholdRule rule = ThresholdRule::kAtLeast;
  double alpha = kAwarenessAlpha;  // above 0

  // Computed in float32, like the public code's comparison of float32 tensors.
  float Weight(int64_t key_rows) const {
    return static_cast<float>(alpha) / static_cast<float>(key_rows);
  }
  bool operator==(const AwarenessThreshold&) const = default;
};

// Counts the keys over the threshold in each head's row: weights [heads, key_rows] float32, counts
// [heads]. Counts are integers, so that ties between heads are exact.
void CountAttendedKeys(const float* weights, int64_t heads, int64_t key_rows,
                       const AwarenessThreshold& threshold, int64_t* counts);

// Sets counted [key_rows] to 1 for each counted key, else 0; weights [key_rows].
void MarkAttendedKeys(const float* weights, int64_t key_rows, const AwarenessThreshold& threshold,
                      uint8_t* counted);

// Returns the entropy of one row of weights [key_rows] in nats, between 0 and log(key_rows); 0 log
// 0 is 0.
double RowEntropy(const float* weights, int64_t key_rows);

}  // namespace midscope::kernels
