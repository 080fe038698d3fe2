// SPDX-License-Identifier: MIT
// Products of a few rows with a weight matrix that stays as it is in the file: bound by reading
// its bytes once, which are fewer than those of any dequantised copy.
#pragma once

#include <cstdint>

#include "kernels/matrix_vector.h"
#include "kernels/quantised/dequantise.h"

namespace midscope::kernels {

// y[r, o] = sum_i weight[o, i] x[r, i], with weight [outputs, inputs] = `weight` dequantised block
// by block in registers. x [rows, inputs] of `dtype`, contiguous; y [rows, outputs] of `y_dtype`,
// with row stride `y_stride` in elements (0: outputs); `y_dtype` is `dtype` or float32. Neither
// weights nor x are rounded on the way: products and sums are float32, the order of the sums is the
// kernel's own. 1 <= rows <= kMatrixVectorRows. The result does not depend on the executor.
void QuantisedMatrixVector(const BlockMatrix& weight, const void* x, int64_t rows, Dtype dtype,
                           void* y, Dtype y_dtype, const Executor& executor, int64_t y_stride = 0);

}  // namespace midscope::kernels
