// SPDX-License-Identifier: MIT
// Products of a weight matrix with few rows of x. The speed is limited by reading the weights once;
// general matrix products are slower for few rows.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"
#include "kernels/types.h"

namespace midscope::kernels {

// Maximum number of rows for MatrixVector; for more rows, a general matrix product is faster.
inline constexpr int64_t kMatrixVectorRows = 8;

// Computes y[r, o] = sum_i weight[o, i] x[r, i]. weight [outputs, inputs], x [rows, inputs], y
// [rows, outputs], contiguous; weight and x have `dtype`, sums are float32. `y_dtype` is `dtype`,
// or float32, so that a bfloat16 model's logits are not rounded. 1 <= rows <= kMatrixVectorRows.
// The result does not depend on the executor.
void MatrixVector(const void* weight, const void* x, int64_t rows, int64_t inputs, int64_t outputs,
                  Dtype dtype, void* y, Dtype y_dtype, const Executor& executor);

}  // namespace midscope::kernels
