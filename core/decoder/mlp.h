// SPDX-License-Identifier: MIT
// The MLP of a layer: dense, or a mixture of experts. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/compute/layer_ops.h"
#include "core/compute/weights.h"
#include "core/model/model_config.h"

namespace midscope {

// Returns the input of the down projection, activation(gate) * up or activation(up), for x [rows,
// hidden] on the device of `ops`: [rows, feed-forward]. xielu: settings for models with that
// activation. Returns early when cancelled, or throws Cancelled.
at::Tensor ActivatedMlp(const LayerOps& ops, const ModelConfig& config, const MlpWeights& mlp,
                        const XieluSettings& xielu, const at::Tensor& x,
                        const ProductContext& context);

// Arguments of the functions of a mixture-of-experts MLP. `ops`: of the layer's device.
struct ExpertStep {
  const ModelConfig& config;
  const LayerOps& ops;
  const ExpertWeights& weights;
  ProductContext context;
};

// Runs the router: returns the experts' weights [row, expert], float32 in host memory; 0: not
// chosen. x [rows, hidden] is in the run's dtype. Softmax families round router logits to the run's
// dtype first, as transformers does.
at::Tensor RouteRows(const ExpertStep& step, const at::Tensor& x);

// Computes y [rows, hidden]: the sum over experts of weight * expert(x), in float32 and rounded
// once, plus the shared experts' output. Each expert runs once, for the rows whose weight is not 0;
// matrices of unused experts are not read.
void RunExperts(const ExpertStep& step, const at::Tensor& x, const at::Tensor& weights,
                const at::Tensor& y);

// Returns the experts' weights [row, expert] for router logits [row, expert] float32, as
// ChooseExperts (expert_choice.h) does, but differentiable. choice_bias [expert], or undefined.
at::Tensor ExpertWeightsOfRows(const ExpertSettings& settings, const at::Tensor& logits,
                               const at::Tensor& choice_bias);

}  // namespace midscope
