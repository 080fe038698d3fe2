// SPDX-License-Identifier: MIT
// Row-wise operations of a decoder block (norms, activations, bias), each in one pass over memory.
// Rows are contiguous; arithmetic is float32.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"
#include "kernels/types.h"

namespace midscope::kernels {

// Computes out[r, i] = x[r, i] * inverse_rms[r] * weight[i], inverse_rms = 1 / sqrt(mean(x^2) +
// epsilon).
// x, out [rows, width] of `dtype`; weight [width] float32; inverse_rms [rows] is also written
// unless null.
void RmsNorm(const void* x, const float* weight, float epsilon, int64_t rows, int64_t width,
             Dtype dtype, void* out, float* inverse_rms, const Executor& executor);

// Computes residual += update (rounded to `dtype`), then out and inverse_rms as RmsNorm of
// residual.
void AddRmsNorm(void* residual, const void* update, const float* weight, float epsilon,
                int64_t rows, int64_t width, Dtype dtype, void* out, float* inverse_rms,
                const Executor& executor);

// Computes out[r, i] = (x[r, i] - mean) * inverse_deviation * weight[i] + bias[i],
// inverse_deviation = 1 / sqrt(variance + epsilon) with the variance over `width` elements (not
// width - 1), like torch.nn.LayerNorm in float32. bias [width] may be null: no bias. mean and
// inverse_deviation [rows] are also written unless null.
void LayerNorm(const void* x, const float* weight, const float* bias, float epsilon, int64_t rows,
               int64_t width, Dtype dtype, void* out, float* mean, float* inverse_deviation,
               const Executor& executor);

// Computes residual += update (rounded to `dtype`), then out, mean and inverse_deviation as
// LayerNorm of residual.
void AddLayerNorm(void* residual, const void* update, const float* weight, const float* bias,
                  float epsilon, int64_t rows, int64_t width, Dtype dtype, void* out, float* mean,
                  float* inverse_deviation, const Executor& executor);

// Normalises every head of x [rows, heads, head_dim] separately (qwen3, gemma3): RmsNorm over
// head_dim, with weight [head_dim] for all heads. `out` may be x. For a norm over all heads
// together (olmo2), pass one head of size heads * head_dim.
void RmsNormHeads(const ConstHeads& x, const float* weight, float epsilon, int64_t rows,
                  int64_t heads, int64_t head_dim, const Heads& out, const Executor& executor);

// Computes x[r, i] += bias[i], in place. x [rows, width] of `dtype`, with row stride x_stride in
// elements; bias [width] float32.
void AddBias(void* x, int64_t x_stride, const float* bias, int64_t rows, int64_t width, Dtype dtype,
             const Executor& executor);

// Computes residual += update, [count] elements.
void Add(void* residual, const void* update, int64_t count, Dtype dtype, const Executor& executor);

// kSilu: x / (1 + e^-x). kGelu: x (1 + erf(x / sqrt 2)) / 2, with absolute error below 1e-6 *
// max(1, |x|). kGeluTanh: x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. kRelu: max(0, x).
// kSquaredRelu: max(0, x)^2.
enum class ActivationKind { kSilu, kGelu, kGeluTanh, kRelu, kSquaredRelu };

// Computes out [rows, width] = activation(gate) * up. gate_up [rows, 2 * width]: gate in the first
// half of each row, up in the second.
void GatedActivation(ActivationKind kind, const void* gate_up, int64_t rows, int64_t width,
                     Dtype dtype, void* out, const Executor& executor);

// Computes out = activation(x), [count] elements; `out` may be x.
void Activate(ActivationKind kind, const void* x, int64_t count, Dtype dtype, void* out,
              const Executor& executor);

// Computes out[r, i] = x[r, i] - amount[r] * direction[i]: changes keys (or queries) as scaling one
// input channel does. x, out [rows, width] of `dtype` with row strides x_stride / out_stride in
// elements; amount [rows], direction [width] float32.
void RankOneUpdate(const void* x, int64_t x_stride, const float* amount, const float* direction,
                   int64_t rows, int64_t width, Dtype dtype, void* out, int64_t out_stride,
                   const Executor& executor);

}  // namespace midscope::kernels
