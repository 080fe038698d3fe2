// SPDX-License-Identifier: MIT
// Row-wise pieces of a decoder block, each one pass over memory. Rows are contiguous; arithmetic is
// float32.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"
#include "kernels/types.h"

namespace midscope::kernels {

// out[r, i] = x[r, i] * inverse_rms[r] * weight[i], inverse_rms = 1 / sqrt(mean(x^2) + epsilon).
// x, out [rows, width] of `dtype`; weight [width] float32; inverse_rms [rows] is also returned
// unless null.
void RmsNorm(const void* x, const float* weight, float epsilon, int64_t rows, int64_t width,
             Dtype dtype, void* out, float* inverse_rms, const Executor& executor);

// residual += update (rounded to `dtype`), then out and inverse_rms as RmsNorm of the sum.
void AddRmsNorm(void* residual, const void* update, const float* weight, float epsilon,
                int64_t rows, int64_t width, Dtype dtype, void* out, float* inverse_rms,
                const Executor& executor);

// residual += update, [count] elements.
void Add(void* residual, const void* update, int64_t count, Dtype dtype, const Executor& executor);

// gate_up [rows, 2 * width]: gate in the first half of each row, up in the second; out [rows,
// width] = silu(gate) * up.
void SwiGlu(const void* gate_up, int64_t rows, int64_t width, Dtype dtype, void* out,
            const Executor& executor);

// out[r, i] = x[r, i] - amount[r] * direction[i]: how keys (or queries) change when one input
// channel is scaled. x, out [rows, width] of `dtype` with rows x_stride / out_stride elements
// apart; amount [rows], direction [width] float32.
void RankOneUpdate(const void* x, int64_t x_stride, const float* amount, const float* direction,
                   int64_t rows, int64_t width, Dtype dtype, void* out, int64_t out_stride,
                   const Executor& executor);

}  // namespace midscope::kernels
