// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include <ATen/core/Tensor.h>

#include "core/compute/layer_ops.h"
#include "core/compute/weights.h"
#include "core/model/model_config.h"

namespace midscope {

// The first half of an MLP: the input of its down projection. Internal to core.

// Returns activation(gate) * up, or activation(up), for x [rows, hidden] on the device of `ops`:
// [rows, feed-forward]. xielu: used by models with that activation. Returns early when cancelled,
// or throws Cancelled.
at::Tensor ActivatedMlp(const LayerOps& ops, const ModelConfig& config, const MlpWeights& mlp,
                        const XieluSettings& xielu, const at::Tensor& x,
                        const ProductContext& context);

// Chooses the experts of a row and their weights. Internal to core.

// Replaces values [expert], a row's router logits, by the factors of the experts' outputs: 0 for
// experts that are not chosen. choice_bias [expert] or empty. Among equal scores, the first
// expert's counts as larger. Equal to transformers' routers of mixtral, qwen2_moe, olmoe (softmax)
// and glm4_moe, deepseek_v3 (sigmoid, groups: the reference code of DeepSeek-V3).
void ChooseExperts(const ExpertSettings& settings, std::span<const float> choice_bias,
                   std::span<float> values);

// The MLP of a layer with experts: router, the experts that rows chose, and shared experts.
// Internal to core.

// The arguments that all functions below share. `ops` are the layer's.
struct ExpertStep {
  const ModelConfig& config;
  const LayerOps& ops;
  const ExpertWeights& weights;
  ProductContext context;
};

// Returns the weights of the rows' experts, [row, expert] float32 in host memory; 0: not chosen. x
// [rows, hidden] is in the run's dtype. Softmax families round router logits to the run's dtype
// first, as transformers does.
at::Tensor RouteRows(const ExpertStep& step, const at::Tensor& x);

// Sets y [rows, hidden] to the sum over experts of weight times expert(x), in float32 and rounded
// once, plus the shared experts' output. Each expert is run once, for the rows in which its weight
// is not 0; the matrices of unused experts are not read.
void RunExperts(const ExpertStep& step, const at::Tensor& x, const at::Tensor& weights,
                const at::Tensor& y);

}  // namespace midscope
