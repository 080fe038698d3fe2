// SPDX-License-Identifier: MIT
// Products of many rows with a weight matrix that stays as it is in the file: bound by
// arithmetic. Each thread dequantises a few rows of weights at a time into a buffer that its
// second-level cache holds, and multiplies them with all of x before it goes on; the matrix is
// never dequantised as a whole.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"
#include "kernels/quantised/dequantise.h"
#include "kernels/types.h"

namespace midscope::kernels {

// Whether this CPU has the instructions (AVX-512 BF16), and none with which dequantising to memory
// and a library's product would be faster (AMX).
bool HasQuantisedProduct();

// y[r, o] = sum_i weight[o, i] x[r, i]: weights rounded to bfloat16, products of bfloat16, sums in
// float32, y rounded once. x [rows, inputs] contiguous; rows of y have stride y_stride, in
// elements. The result does not depend on the executor, nor that of a row on the other rows.
// Returns false when `cancel` was set; y is then undefined. Only where HasQuantisedProduct().
bool QuantisedProduct(const BlockMatrix& weight, const BFloat16* x, int64_t rows, BFloat16* y,
                      int64_t y_stride, const Executor& executor, CancelFlag cancel = nullptr);

}  // namespace midscope::kernels
