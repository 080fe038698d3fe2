// SPDX-License-Identifier: MIT
// The first half of an MLP: what its down projection reads. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/compute/layer_ops.h"
#include "core/compute/weights.h"
#include "core/model/model_config.h"

namespace midscope {

// activation(gate) * up, or activation(up), of x [rows, hidden] on the device of `ops`: [rows,
// feed-forward]. xielu: of models with that activation. Returns early when cancelled, or throws
// Cancelled.
at::Tensor ActivatedMlp(const LayerOps& ops, const ModelConfig& config, const MlpWeights& mlp,
                        const XieluSettings& xielu, const at::Tensor& x,
                        const ProductContext& context);

}  // namespace midscope
