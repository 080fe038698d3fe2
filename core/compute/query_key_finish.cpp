// SPDX-License-Identifier: MIT
#include "core/compute/query_key_finish.h"

#include <ATen/ATen.h>

namespace midscope {

namespace {

HeadNorm NormOf(const ModelConfig& config, const std::vector<float>& weight, int64_t heads) {
  const bool each_head = config.query_key_norm == QueryKeyNorm::kEachHead;
  const bool of_width = config.query_key_norm == QueryKeyNorm::kWidth;
  return {each_head ? config.norm : NormKind::kRms, of_width ? 1 : heads, weight,
          static_cast<float>(config.norm_epsilon)};
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
  ops.NormaliseHeads(source, NormOf(config, norm, heads), out);
  if (clips && config.clip_after_norm) Clamp(config.clip_qkv, out, out);
}

at::Tensor FinishQueryKeyValue(const ModelConfig& config, const LayerOps& ops, int64_t layer,
                               const LayerWeights& weights, const at::Tensor& projected) {
  if (!FinishesQueryKey(config)) return projected;
  const int64_t q_width = config.QueryWidth(layer);
  const int64_t kv_width = config.KeyWidth(layer);
  const int64_t key_heads = config.KeyValueHeads(layer);
  at::Tensor finished = at::empty_like(projected);
  const auto finish = [&](const std::vector<float>& norm, int64_t heads, int64_t first,
                          int64_t width) {
    FinishHeads(config, ops, norm, heads, projected.narrow(1, first, width),
                finished.narrow(1, first, width));
  };
  finish(weights.query_norm, config.heads, 0, q_width);
  if (config.SharesKeys(layer)) return finished;
  finish(weights.key_norm, key_heads, q_width, kv_width);
  finish(weights.value_norm, key_heads, q_width + kv_width, kv_width);
  return finished;
}

}  // namespace midscope
