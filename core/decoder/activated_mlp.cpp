// SPDX-License-Identifier: MIT
#include "core/decoder/activated_mlp.h"

#include <ATen/ATen.h>

#include "core/compute/clamped_swiglu.h"
#include "core/compute/xielu.h"
#include "core/decoder/project.h"

namespace midscope {
namespace {

bool HasKernel(Activation activation) {
  return activation != Activation::kXielu && activation != Activation::kClampedSwiglu;
}

// Of a few rows on a device that makes gates, ups and their activation at once.
bool ActivatedTogether(const LayerOps& ops, const ModelConfig& config, const Projection& gate_up,
                       const at::Tensor& x, const at::Tensor& post, const JobContext& job) {
  return !ops.host_memory() && HasKernel(config.activation) && gate_up.bias.empty() &&
         gate_up.weight.MultiplyGatedOnDevice(x, ActivationKindOf(config.activation), post, job);
}

}  // namespace

at::Tensor ActivatedMlp(const LayerOps& ops, const ModelConfig& config, const MlpWeights& mlp,
                        const XieluSettings& xielu, const at::Tensor& x,
                        const ProductContext& context) {
  if (!config.gated_mlp) {
    at::Tensor up = Projected(ops, x, mlp.gate_up, context);
    // In place.
    if (config.activation == Activation::kXielu) {
      ApplyXielu(xielu, up);
    } else {
      ops.Activate(config.activation, /*gated=*/false, up, up);
    }
    return up;
  }
  at::Tensor post = at::empty({x.size(0), mlp.down.weight.inputs()}, x.options());
  if (ActivatedTogether(ops, config, mlp.gate_up, x, post, context.job)) return post;
  const at::Tensor gate_up = Projected(ops, x, mlp.gate_up, context);
  if (config.activation == Activation::kClampedSwiglu) {
    ApplyClampedSwiglu(config.clamped_swiglu, gate_up, post);
  } else {
    ops.Activate(config.activation, /*gated=*/true, gate_up, post);
  }
  return post;
}

}  // namespace midscope
