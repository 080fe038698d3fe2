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
// the heads' queries, the latent key, and the value made from it. In each, the rotated elements
// come first; in the value they are 0. All are before rotation.
void ProjectLatent(const LatentStep& step, const at::Tensor& x, const at::Tensor& projected);

// Computes one part of it: queries [rows, heads * head_dim].
void ProjectLatentQueries(const LatentStep& step, const at::Tensor& x, const at::Tensor& queries);
void ProjectLatentKey(const LatentStep& step, const at::Tensor& x, const at::Tensor& key);
// Computes the value [rows, head_dim] from its latent key.
void ValueOfLatentKey(const ModelConfig& config, const at::Tensor& key, const at::Tensor& value);

// Returns the heads' outputs [rows, heads * value] from z [rows, heads * head_dim], the weighted
// sums of latent values.
at::Tensor ExpandLatent(const LatentStep& step, const at::Tensor& z);

}  // namespace midscope
