// SPDX-License-Identifier: MIT
// Adds the gradients of several processes. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/base/process_group.h"

namespace midscope {

// Replaces the parameters' gradients (float32, on any device) by their sums over the processes,
// which are added in host memory. A parameter that has a gradient in any process has one in all
// afterwards. All processes must call it with parameters of the same shapes.
void SumGradients(const std::vector<at::Tensor>& parameters, ProcessGroup& processes);

}  // namespace midscope
