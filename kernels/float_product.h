// SPDX-License-Identifier: MIT
// Products of many rows in float32 arithmetic with a weight matrix of any type that stays as it is
// in the file: each thread turns a group of its rows into float32, in the order in which a product
// reads them, and multiplies that with all of x before it goes on.
#pragma once

#include <cstdint>

#include "kernels/dequantise.h"
#include "kernels/parallel.h"
#include "kernels/types.h"

namespace midscope::kernels {

// y[r, o] = sum_i weight[o, i] x[r, i]: products and sums in float32, y rounded once to its dtype.
// x [rows, inputs] contiguous, of `dtype`; rows of y are y_stride elements apart. The result does
// not depend on the executor, and that of a row not on the other rows. Returns false when `cancel`
// was set; y is then undefined.
bool FloatProduct(const BlockMatrix& weight, const void* x, int64_t rows, Dtype dtype, void* y,
                  Dtype y_dtype, int64_t y_stride, const Executor& executor,
                  CancelFlag cancel = nullptr);

}  // namespace midscope::kernels
