// SPDX-License-Identifier: MIT
// What Ms-PoE orders heads by. Its position-awareness score (arXiv 2403.04797, Eq. 1; seed-facts A)
// is the share of keys whose attention weight from the last query reaches three times the mean,
// that is 3 / key_rows, as a softmax row sums to 1.
#pragma once

#include <cstdint>

namespace midscope::kernels {

enum class ThresholdRule {
  kAtLeast,  // weight >= 3 / key_rows: the paper
  kGreater,  // weight >  3 / key_rows: the public code
};

// Number of keys over the threshold in each head's row; weights [heads, key_rows] float32, counts
// [heads]. Counts are integers, so that ties between heads are exact.
void CountAttendedKeys(const float* weights, int64_t heads, int64_t key_rows, ThresholdRule rule,
                       int64_t* counts);

// Entropy of one row of weights [key_rows] in nats; 0 log 0 is 0. Between 0 and log(key_rows).
double RowEntropy(const float* weights, int64_t key_rows);

}  // namespace midscope::kernels
