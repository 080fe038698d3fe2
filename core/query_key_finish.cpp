// SPDX-License-Identifier: MIT
#include "core/query_key_finish.h"

#include <ATen/ATen.h>

#include "kernels/normalise.h"

namespace midscope {

void FinishHeads(const ModelConfig& config, const std::vector<float>& norm, int64_t heads,
                 kernels::Dtype dtype, const at::Tensor& x, at::Tensor out,
                 const kernels::Executor& executor) {
  at::Tensor source = x;
  if (config.clip_qkv > 0) {
    at::clamp_out(out, x, -config.clip_qkv, config.clip_qkv);
    source = out;
  } else if (norm.empty()) {
    out.copy_(x);
  }
  if (norm.empty()) return;
  const int64_t width = x.size(1);
  const bool by_head = config.query_key_norm == QueryKeyNorm::kHead;
  const int64_t norms = by_head ? heads : 1;
  const int64_t norm_width = width / norms;
  kernels::RmsNormHeads({source.data_ptr(), dtype, source.stride(0), norm_width}, norm.data(),
                        static_cast<float>(config.norm_epsilon), x.size(0), norms, norm_width,
                        {out.data_ptr(), dtype, out.stride(0), norm_width}, executor);
}

at::Tensor FinishQueryKeyValue(const ModelConfig& config, const LayerWeights& weights,
                               kernels::Dtype dtype, const at::Tensor& projected,
                               const kernels::Executor& executor) {
  if (!FinishesQueryKey(config)) return projected;
  const int64_t q_width = config.heads * config.head_dim;
  const int64_t kv_width = config.key_value_heads * config.head_dim;
  at::Tensor finished = at::empty_like(projected);
  const auto finish = [&](const std::vector<float>& norm, int64_t heads, int64_t first,
                          int64_t width) {
    FinishHeads(config, norm, heads, dtype, projected.narrow(1, first, width),
                finished.narrow(1, first, width), executor);
  };
  finish(weights.query_norm, config.heads, 0, q_width);
  finish(weights.key_norm, config.key_value_heads, q_width, kv_width);
  finish({}, config.key_value_heads, q_width + kv_width, kv_width);
  return finished;
}

}  // namespace midscope
