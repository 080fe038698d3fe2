// SPDX-License-Identifier: MIT
// The gate of gpt-oss' experts. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/model_config.h"

namespace midscope {

// out [rows, width] = Activation::kClampedSwiglu of x [rows, gate then up, 2 width], of any
// floating type, on any device; computed in float32.
void ApplyClampedSwiglu(const ClampedSwiglu& settings, const at::Tensor& x, const at::Tensor& out);

}  // namespace midscope
