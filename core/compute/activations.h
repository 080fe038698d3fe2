// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/model_config.h"

namespace midscope {

// The gate of gpt-oss' experts. Internal to core.

// out [rows, width] = Activation::kClampedSwiglu of x [rows, gate then up, 2 width], of any
// floating type, on any device; computed in float32.
void ApplyClampedSwiglu(const ClampedSwiglu& settings, const at::Tensor& x, const at::Tensor& out);

// The activation of Apertus, whose settings are learned, layer by layer. Internal to core.

// x [rows, width] of any floating type, on any device, becomes its activation; computed in float32.
void ApplyXielu(const XieluSettings& settings, const at::Tensor& x);

}  // namespace midscope
