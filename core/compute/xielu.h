// SPDX-License-Identifier: MIT
// The activation of Apertus, whose settings are learned, layer by layer. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/model_config.h"

namespace midscope {

// x [rows, width] of any floating type, on any device, becomes its activation; computed in float32.
void ApplyXielu(const XieluSettings& settings, const at::Tensor& x);

}  // namespace midscope
