// SPDX-License-Identifier: MIT
#include "core/compute/clamped_swiglu.h"

#include <ATen/ATen.h>

namespace midscope {

void ApplyClampedSwiglu(const ClampedSwiglu& settings, const at::Tensor& x, const at::Tensor& out) {
  const int64_t width = out.size(1);
  const at::Tensor gate = x.narrow(1, 0, width).to(at::kFloat).clamp_max(settings.limit);
  const at::Tensor up =
      x.narrow(1, width, width).to(at::kFloat).clamp(-settings.limit, settings.limit);
  out.copy_(up.add(1.0).mul_(gate).mul_(gate.mul(settings.gain).sigmoid_()));
}

}  // namespace midscope
