// SPDX-License-Identifier: MIT
// Attention over latent keys (ModelConfig::latent): computes the queries for latent keys from a
// layer's input, and the heads' outputs from the attention result. Internal to core.
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

// Computes projected [rows, (heads + 2) * head_dim] from x [rows, hidden], both in the run's dtype:
// the heads' queries, the latent key, and the value made from it. In each head, the elements that
// will be rotated come first; in the value they are 0. Nothing is rotated yet.
void ProjectLatent(const LatentStep& step, const at::Tensor& x, const at::Tensor& projected);

// Computes only the queries [rows, heads * head_dim], or only the latent key [rows, head_dim].
void ProjectLatentQueries(const LatentStep& step, const at::Tensor& x, const at::Tensor& queries);
void ProjectLatentKey(const LatentStep& step, const at::Tensor& x, const at::Tensor& key);
// Computes the value [rows, head_dim] from the latent key [rows, head_dim].
void ValueOfLatentKey(const ModelConfig& config, const at::Tensor& key, const at::Tensor& value);

// Returns the heads' outputs [rows, heads * value] from z [rows, heads * head_dim], the weighted
// sums of latent values.
at::Tensor ExpandLatent(const LatentStep& step, const at::Tensor& z);

}  // namespace midscope
