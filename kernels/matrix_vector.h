// SPDX-License-Identifier: MIT
// Products of a weight matrix with a few rows: bound by reading the weights once, which general
// matrix products do not reach there.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"
#include "kernels/types.h"

namespace midscope::kernels {

// Rows up to which MatrixVector is meant; above, a general matrix product is faster.
inline constexpr int64_t kMatrixVectorRows = 8;

// y[r, o] = sum_i weight[o, i] x[r, i]. weight [outputs, inputs], x [rows, inputs], y [rows,
// outputs], contiguous; weight and x of `dtype`, sums in float32. `y_dtype` is that dtype, or
// float32, which keeps a bfloat16 model's logits from being rounded. 1 <= rows <=
// kMatrixVectorRows. The result does not depend on the executor.
void MatrixVector(const void* weight, const void* x, int64_t rows, int64_t inputs, int64_t outputs,
                  Dtype dtype, void* y, Dtype y_dtype, const Executor& executor);

}  // namespace midscope::kernels
