// SPDX-License-Identifier: MIT
// A GPU's name and memory. Only in builds with MIDSCOPE_CUDA. Internal to core.
#pragma once

#include "core/compute/device_facts.h"

namespace midscope {

// Facts of a device of kind kCuda; without memory where it does not answer.
DeviceFacts CudaFacts(const DeviceName& device);

}  // namespace midscope
