// SPDX-License-Identifier: MIT
// Products of few rows with a weight matrix that stays as stored in the file. The speed is limited
// by reading its bytes once, which are fewer than those of a dequantised copy.
#pragma once

#include <cstdint>

#include "kernels/matrix_vector.h"
#include "kernels/quantised/dequantise.h"

namespace midscope::kernels {

// Computes y[r, o] = sum_i weight[o, i] x[r, i], with weight [outputs, inputs] = `weight`
// dequantised block by block in registers. x [rows, inputs] of `dtype`, contiguous; y [rows,
// outputs] of `y_dtype`, with row stride `y_stride` in elements (0: outputs); `y_dtype` is `dtype`
// or float32. Products and sums are float32, without rounding of weights or x; the order of sums is
// unspecified. 1 <= rows <= kMatrixVectorRows. The result does not depend on the executor.
void QuantisedMatrixVector(const BlockMatrix& weight, const void* x, int64_t rows, Dtype dtype,
                           void* y, Dtype y_dtype, const Executor& executor, int64_t y_stride = 0);

}  // namespace midscope::kernels
