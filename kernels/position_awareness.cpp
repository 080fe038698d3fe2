// SPDX-License-Identifier: MIT
#include "kernels/position_awareness.h"

#include <cmath>

#include "kernels/check.h"

namespace midscope::kernels {

void CountAttendedKeys(const float* weights, int64_t heads, int64_t key_rows, ThresholdRule rule,
                       int64_t* counts) {
  // The threshold is formed in float32, as the public code's comparison of float32 tensors is.
  MIDSCOPE_KERNEL_CHECK_GE(key_rows, 1);
  const float threshold = 3.0f / static_cast<float>(key_rows);
  for (int64_t head = 0; head < heads; ++head) {
    const float* row = weights + head * key_rows;
    int64_t count = 0;
    if (rule == ThresholdRule::kAtLeast) {
      for (int64_t key = 0; key < key_rows; ++key) count += row[key] >= threshold ? 1 : 0;
    } else {
      for (int64_t key = 0; key < key_rows; ++key) count += row[key] > threshold ? 1 : 0;
    }
    counts[head] = count;
  }
}

double RowEntropy(const float* weights, int64_t key_rows) {
  double entropy = 0;
  for (int64_t key = 0; key < key_rows; ++key) {
    const float weight = weights[key];
    // The logarithm of a float32 is good to 1e-7, as the weight itself is.
    if (weight > 0) entropy -= static_cast<double>(weight * std::log(weight));
  }
  return entropy;
}

}  // namespace midscope::kernels
