// SPDX-License-Identifier: MIT
#include "core/compute/activations.h"

#include <cmath>

#include <ATen/ATen.h>

namespace midscope {

void ApplyClampedSwiglu(const ClampedSwiglu& settings, const at::Tensor& x, const at::Tensor& out) {
  const int64_t width = out.size(1);
  const at::Tensor gate = x.narrow(1, 0, width).to(at::kFloat).clamp_max(settings.limit);
  const at::Tensor up =
      x.narrow(1, width, width).to(at::kFloat).clamp(-settings.limit, settings.limit);
  out.copy_(up.add(1.0).mul_(gate).mul_(gate.mul(settings.gain).sigmoid_()));
}

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
