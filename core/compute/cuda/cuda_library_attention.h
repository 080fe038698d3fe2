// SPDX-License-Identifier: MIT
// LibTorch's attention on tensor cores of a GPU, of rotated bfloat16 or float16 queries and keys:
// all that CudaOps calls there which has no counterpart on the CPU, so that the rest of it is
// tested without a GPU (tests/core/cuda_host). Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace midscope {

struct FlashResult {
  at::Tensor z;     // [1, rows, heads, head_dim]
  at::Tensor sums;  // [1, heads, rows] float32: logarithms of the sums of exponentials
};

// Flash attention: queries [1, rows, heads, head_dim], keys and values [1, keys, key_value_heads,
// head_dim]; the last query sees the last key, all see `window` keys (0: all) up to their own.
FlashResult FlashAttention(const at::Tensor& queries, const at::Tensor& keys,
                           const at::Tensor& values, int64_t window, double scale);

// cuDNN's, of the same shapes, where the first query sees the first key: z.
at::Tensor CudnnAttention(const at::Tensor& queries, const at::Tensor& keys,
                          const at::Tensor& values, double scale);

}  // namespace midscope
