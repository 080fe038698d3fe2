// SPDX-License-Identifier: MIT
#include "core/compute/xielu.h"

#include <ATen/ATen.h>

#include <cmath>

namespace midscope {
namespace {

double Softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

}  // namespace

void ApplyXielu(const XieluSettings& settings, const at::Tensor& x) {
  const double positive = Softplus(settings.alpha_positive);
  const double negative = settings.beta + Softplus(settings.alpha_negative);
  const at::Tensor values = x.to(at::kFloat);
  const at::Tensor above = values.square().mul_(positive);
  const at::Tensor below = values.clamp_max(settings.epsilon).expm1_().sub_(values).mul_(negative);
  x.copy_(at::where(values > 0, above, below).add_(values, settings.beta));
}

}  // namespace midscope
