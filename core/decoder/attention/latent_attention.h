// SPDX-License-Identifier: MIT
// Attention over latent keys (ModelConfig::latent): from a layer's input to the queries for latent
// keys, and from the attention result to the heads' outputs. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/compute/layer_ops.h"
#include "core/compute/weights.h"
#include "core/model/model_config.h"

namespace midscope {

struct LatentStep {
  const ModelConfig& config;
  const LayerOps& ops;
  const LatentWeights& weights;
  const ProductContext& context;
};

// projected [rows, (heads + 2) * head_dim] of x [rows, hidden], both of the run's dtype: the heads'
// queries, the latent key, and it as a value, each with its rotated elements first, which are 0 in
// the value. Before rotation.
void ProjectLatent(const LatentStep& step, const at::Tensor& x, const at::Tensor& projected);

// Its parts: queries [rows, heads * head_dim]; key [rows, head_dim].
void ProjectLatentQueries(const LatentStep& step, const at::Tensor& x, const at::Tensor& queries);
void ProjectLatentKey(const LatentStep& step, const at::Tensor& x, const at::Tensor& key);
// The value [rows, head_dim] that a key is.
void ValueOfLatentKey(const ModelConfig& config, const at::Tensor& key, const at::Tensor& value);

// The heads' outputs [rows, heads * value] of z [rows, heads * head_dim], latent values weighted.
at::Tensor ExpandLatent(const LatentStep& step, const at::Tensor& z);

}  // namespace midscope
