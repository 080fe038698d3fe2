// SPDX-License-Identifier: MIT
#include "core/compute/query_key_finish.h"

#include <ATen/ATen.h>

namespace midscope {

namespace {

// The model's kind of norm over each head, with weights for each.
void NormaliseEachHead(const ModelConfig& config, const at::Tensor& x,
                       const std::vector<float>& norm, int64_t heads, const at::Tensor& out) {
  at::Tensor values = x.to(at::kFloat).reshape({x.size(0), heads, x.size(1) / heads});
  if (config.norm == NormKind::kLayer) values = values - values.mean(-1, /*keepdim=*/true);
  const at::Tensor squares = values.square().mean(-1, /*keepdim=*/true);
  values = values * squares.add_(config.norm_epsilon).rsqrt_();
  const at::Tensor weight = at::tensor(norm).to(x.device());
  out.copy_(values.reshape({x.size(0), x.size(1)}).mul_(weight));
}

void Clamp(double limit, const at::Tensor& x, const at::Tensor& out) {
  out.copy_(x.clamp(-limit, limit));
}

}  // namespace

void FinishHeads(const ModelConfig& config, const LayerOps& ops, const std::vector<float>& norm,
                 int64_t heads, const at::Tensor& x, const at::Tensor& out) {
  const bool clips = config.clip_qkv > 0;
  if (norm.empty() && !clips) return void(out.copy_(x));
  at::Tensor source = x;
  if (clips && (norm.empty() || !config.clip_after_norm)) {
    Clamp(config.clip_qkv, x, out);
    source = out;
  }
  if (norm.empty()) return;
  if (config.query_key_norm == QueryKeyNorm::kEachHead) {
    NormaliseEachHead(config, source, norm, heads, out);
  } else {
    const bool by_head = config.query_key_norm == QueryKeyNorm::kHead;
    ops.NormaliseHeads(source, norm, by_head ? heads : 1, static_cast<float>(config.norm_epsilon),
                       out);
  }
  if (clips && config.clip_after_norm) Clamp(config.clip_qkv, out, out);
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
