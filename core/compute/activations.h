// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/model_config.h"

namespace midscope {

// The gated activation of gpt-oss' experts. Internal to core.

// Sets out [rows, width] to Activation::kClampedSwiglu of x [rows, gate then up, 2 width], in any
// floating type, on any device; computed in float32.
void ApplyClampedSwiglu(const ClampedSwiglu& settings, const at::Tensor& x, const at::Tensor& out);

// The activation of Apertus; its settings are learned separately for each layer. Internal to core.

// Replaces x [rows, width], in any floating type, on any device, by its activation; computed in
// float32.
void ApplyXielu(const XieluSettings& settings, const at::Tensor& x);

}  // namespace midscope
