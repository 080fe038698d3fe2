// SPDX-License-Identifier: MIT
// The MLP of a layer, whole or of experts. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/compute/layer_ops.h"
#include "core/compute/weights.h"
#include "core/model/model_config.h"

namespace midscope {

// The input of the down projection: activation(gate) * up, or activation(up), of x [rows, hidden]
// on the device of `ops`: [rows, feed-forward]. xielu: of models with that activation. Returns
// early when cancelled, or throws Cancelled.
at::Tensor ActivatedMlp(const LayerOps& ops, const ModelConfig& config, const MlpWeights& mlp,
                        const XieluSettings& xielu, const at::Tensor& x,
                        const ProductContext& context);

// Arguments of the functions of an MLP with experts: router, the experts that rows chose, and the
// shared ones. `ops` is the layer's.
struct ExpertStep {
  const ModelConfig& config;
  const LayerOps& ops;
  const ExpertWeights& weights;
  ProductContext context;
};

// The weights of the rows' experts, [row, expert] float32 in host memory; 0: not chosen. x [rows,
// hidden] of the run's dtype. Softmax families round router logits to the run's dtype first, as
// transformers does.
at::Tensor RouteRows(const ExpertStep& step, const at::Tensor& x);

// y [rows, hidden] = the sum over experts of weight times expert(x), in float32, rounded once, and
// the shared experts' output. Each expert is run once, for the rows with a weight that is not 0;
// weights of experts that no row uses are not read.
void RunExperts(const ExpertStep& step, const at::Tensor& x, const at::Tensor& weights,
                const at::Tensor& y);

// As ChooseExperts (expert_choice.h) with gradients, for all rows: returns the weights [row,
// expert] of router logits [row, expert] in float32. choice_bias [expert], or undefined.
at::Tensor ExpertWeightsOfRows(const ExpertSettings& settings, const at::Tensor& logits,
                               const at::Tensor& choice_bias);

}  // namespace midscope
