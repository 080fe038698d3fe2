// SPDX-License-Identifier: MIT
// Changes that some models apply to q, k and v between projection and rotation: a clamp (mpt), a
// norm of q and k (qwen3, gemma3, olmo2) and of v (gemma4). A norm after rotation (hunyuan) is
// applied here without its weights, because rotation does not change its divisor. Clamp and norm
// are not linear, so channel scaling applies to q, k and v before them. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/compute/layer_ops.h"
#include "core/compute/weights.h"
#include "core/model/model_config.h"

namespace midscope {

// Whether the model clamps or normalises q and k. If false, projections are used unchanged.
inline bool FinishesQueryKey(const ModelConfig& config) {
  return config.query_key_norm != QueryKeyNorm::kNone || config.clip_qkv > 0;
}
// Whether the model changes values: by a clamp, or a norm (gemma4).
inline bool FinishesValue(const ModelConfig& config) {
  return config.clip_qkv > 0 || config.value_norm;
}

// Applies the model's clamp and norm to heads x [rows, heads * head_dim] and writes out, of the
// same shape (may be x); rows of both may have any stride. `norm`: the layer's query_norm, key_norm
// or value_norm, or empty.
void FinishHeads(const ModelConfig& config, const LayerOps& ops, const std::vector<float>& norm,
                 int64_t heads, const at::Tensor& x, const at::Tensor& out);

// Returns q, k and v of a layer in one row, [rows, (heads + 2 key_value_heads) * head_dim]:
// `projected` itself if the model changes nothing.
at::Tensor FinishQueryKeyValue(const ModelConfig& config, const LayerOps& ops, int64_t layer,
                               const LayerWeights& weights, const at::Tensor& projected);

}  // namespace midscope
