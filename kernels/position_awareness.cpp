// SPDX-License-Identifier: MIT
#include "kernels/position_awareness.h"

#include <cmath>

#include "kernels/check.h"

namespace midscope::kernels {

void CountAttendedKeys(const float* weights, int64_t heads, int64_t key_rows,
                       const AwarenessThreshold& threshold, int64_t* counts) {
  MIDSCOPE_KERNEL_CHECK_GE(key_rows, 1);
  const float least = threshold.Weight(key_rows);
  for (int64_t head = 0; head < heads; ++head) {
    const float* row = weights + head * key_rows;
    int64_t count = 0;
    if (threshold.rule == ThresholdRule::kAtLeast) {
      for (int64_t key = 0; key < key_rows; ++key) count += row[key] >= least ? 1 : 0;
    } else {
      for (int64_t key = 0; key < key_rows; ++key) count += row[key] > least ? 1 : 0;
    }
    counts[head] = count;
  }
}

void MarkAttendedKeys(const float* weights, int64_t key_rows, const AwarenessThreshold& threshold,
                      uint8_t* counted) {
  MIDSCOPE_KERNEL_CHECK_GE(key_rows, 1);
  const float least = threshold.Weight(key_rows);
  const bool reaches = threshold.rule == ThresholdRule::kAtLeast;
  for (int64_t key = 0; key < key_rows; ++key)
    counted[key] = weights[key] > least || (reaches && weights[key] == least) ? 1 : 0;
}

double RowEntropy(const float* weights, int64_t key_rows) {
  double entropy = 0;
  for (int64_t key = 0; key < key_rows; ++key) {
    const float weight = weights[key];
    // Uses the logarithm in float32: it is precise to 1e-7, like the weight itself.
    if (weight > 0) entropy -= static_cast<double>(weight * std::log(weight));
  }
  return entropy;
}

}  // namespace midscope::kernels
