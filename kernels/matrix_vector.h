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
// outputs], contiguous; weight, x and y of `dtype`, sums in float32. 1 <= rows <=
// kMatrixVectorRows. The result does not depend on the executor.
void MatrixVector(const void* weight, const void* x, int64_t rows, int64_t inputs, int64_t outputs,
                  Dtype dtype, void* y, const Executor& executor);

}  // namespace midscope::kernels
