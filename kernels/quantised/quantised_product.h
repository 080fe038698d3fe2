// SPDX-License-Identifier: MIT
// Products of many rows with a weight matrix that stays as stored in the file; arithmetic limits
// the speed. Each thread dequantises a few rows of weights at a time into a buffer that fits the L2
// cache, and multiplies them with all of x. The matrix is never dequantised as a whole.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"
#include "kernels/quantised/dequantise.h"
#include "kernels/types.h"

namespace midscope::kernels {

// Whether this CPU has AVX-512 BF16, which QuantisedProduct requires, but not AMX, with which
// dequantising the matrix to memory and a library's product are faster.
bool HasQuantisedProduct();

// Computes y[r, o] = sum_i weight[o, i] x[r, i]: weights are rounded to bfloat16, products are of
// bfloat16, sums are float32, y is rounded once. x [rows, inputs] contiguous; rows of y have stride
// y_stride, in elements. The result does not depend on the executor, and each row's result does not
// depend on other rows. Returns false if `cancel` was set; y is then undefined. Requires
// HasQuantisedProduct().
bool QuantisedProduct(const BlockMatrix& weight, const BFloat16* x, int64_t rows, BFloat16* y,
                      int64_t y_stride, const Executor& executor, CancelFlag cancel = nullptr);

}  // namespace midscope::kernels
