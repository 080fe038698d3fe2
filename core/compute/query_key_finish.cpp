// SPDX-License-Identifier: MIT
#include "core/compute/query_key_finish.h"

#include <ATen/ATen.h>

namespace midscope {

void FinishHeads(const ModelConfig& config, const LayerOps& ops, const std::vector<float>& norm,
                 int64_t heads, const at::Tensor& x, at::Tensor out) {
  at::Tensor source = x;
  if (config.clip_qkv > 0) {
    at::clamp_out(out, x, -config.clip_qkv, config.clip_qkv);
    source = out;
  } else if (norm.empty()) {
    out.copy_(x);
  }
  if (norm.empty()) return;
  const bool by_head = config.query_key_norm == QueryKeyNorm::kHead;
  ops.NormaliseHeads(source, norm, by_head ? heads : 1, static_cast<float>(config.norm_epsilon),
                     out);
}

at::Tensor FinishQueryKeyValue(const ModelConfig& config, const LayerOps& ops,
                               const LayerWeights& weights, const at::Tensor& projected) {
  if (!FinishesQueryKey(config)) return projected;
  const int64_t q_width = config.heads * config.head_dim;
  const int64_t kv_width = config.key_value_heads * config.head_dim;
  at::Tensor finished = at::empty_like(projected);
  const auto finish = [&](const std::vector<float>& norm, int64_t heads, int64_t first,
                          int64_t width) {
    FinishHeads(config, ops, norm, heads, projected.narrow(1, first, width),
                finished.narrow(1, first, width));
  };
  finish(weights.query_norm, config.heads, 0, q_width);
  finish(weights.key_norm, config.key_value_heads, q_width, kv_width);
  finish({}, config.key_value_heads, q_width + kv_width, kv_width);
  return finished;
}

}  // namespace midscope
