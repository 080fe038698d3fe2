// SPDX-License-Identifier: MIT
// LibTorch's attention on a GPU's tensor cores, for rotated bfloat16 or float16 queries and keys.
// These are the only functions of LibTorch in CudaOps without a counterpart on the CPU, so that the
// rest of CudaOps is tested without a GPU (tests/core/cuda_host). Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace midscope {

struct FlashResult {
  at::Tensor z;     // [1, rows, heads, head_dim]
  at::Tensor sums;  // [1, heads, rows] float32: logarithms of the sums of exponentials
};

// Flash attention: queries [1, rows, heads, head_dim], keys and values [1, keys, key_value_heads,
// head_dim]; the last query's own key is the last key, and each query sees `window` keys (0: all)
// up to its own.
FlashResult FlashAttention(const at::Tensor& queries, const at::Tensor& keys,
                           const at::Tensor& values, int64_t window, double scale);

// Returns z by cuDNN's attention, with the shapes of FlashAttention. The causal mask assumes that
// the first query's own key is the first key.
at::Tensor CudnnAttention(const at::Tensor& queries, const at::Tensor& keys,
                          const at::Tensor& values, double scale);

}  // namespace midscope
