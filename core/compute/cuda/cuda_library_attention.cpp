// SPDX-License-Identifier: MIT
#include "core/compute/cuda/cuda_library_attention.h"

#include <ATen/ATen.h>

#include <optional>
#include <tuple>

namespace midscope {

FlashResult FlashAttention(const at::Tensor& queries, const at::Tensor& keys,
                           const at::Tensor& values, int64_t window, double scale) {
  const auto result = at::_flash_attention_forward(
      queries, keys, values, std::nullopt, std::nullopt, queries.size(1), keys.size(1), 0.0,
      /*is_causal=*/window == 0, /*return_debug_mask=*/false, scale,
      window > 0 ? std::optional<int64_t>(window - 1) : std::nullopt,
      window > 0 ? std::optional<int64_t>(0) : std::nullopt);
  return {std::get<0>(result), std::get<1>(result)};
}

at::Tensor CudnnAttention(const at::Tensor& queries, const at::Tensor& keys,
                          const at::Tensor& values, double scale) {
  return std::get<0>(at::_scaled_dot_product_cudnn_attention(
                         queries.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2),
                         std::nullopt, /*compute_log_sumexp=*/false, 0.0, /*is_causal=*/true,
                         /*return_debug_mask=*/false, scale))
      .transpose(1, 2);
}

}  // namespace midscope
