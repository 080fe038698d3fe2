// SPDX-License-Identifier: MIT
// The gated delta rule (arXiv 2412.06464, equation 10) and the state space of Mamba-2 (arXiv
// 2405.21060), row by row: layers that mix tokens without attention.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"

namespace midscope::kernels {

struct DeltaShape {
  int64_t key_heads = 0;
  int64_t value_heads = 0;  // a multiple of key_heads
  int64_t key_dim = 0;
  int64_t value_dim = 0;
  bool tiled =
      false;  // value head v uses key head v % key_heads, not v / (value_heads / key_heads)
};

// For each row, with its query q, key k (both [key_dim]), value v [value_dim], decay a and rate b
// of a value head whose state is S [key_dim, value_dim]:
//   S = a S;  S += k (b (v - S^T k))^T;  out = S^T q;
// or, without rates (rate == nullptr), the state space S = a S + k v^T.
// q, k [rows, key_heads, key_dim], v, out [rows, value_heads, value_dim], decay, rate [rows,
// value_heads]: all contiguous float32. state [value_heads, key_dim, value_dim]: the state before
// the first row, replaced by the state after the last row. Results of a row do not depend on how
// rows are divided into calls, nor on the number of threads. When cancelled, returns early; `out`
// and `state` are then undefined.
void GatedDeltaRule(const DeltaShape& shape, const float* q, const float* k, const float* v,
                    const float* decay, const float* rate, int64_t rows, float* state, float* out,
                    const Executor& executor, CancelFlag cancel);

// Computes the weight of each row's value in the output of the last row, whose query is q
// [key_heads, key_dim]: out = sum over rows of weights[row] * v[row], if the state before the first
// row is 0. Weights [value_heads, rows] may be negative and need not sum to 1. k, decay, rate: as
// for GatedDeltaRule. When cancelled, returns early; weights are then undefined.
void DeltaRuleWeights(const DeltaShape& shape, const float* q, const float* k, const float* decay,
                      const float* rate, int64_t rows, float* weights, const Executor& executor,
                      CancelFlag cancel);

}  // namespace midscope::kernels
