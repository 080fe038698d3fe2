// SPDX-License-Identifier: MIT
// Reads a GPU's name and memory. Only in builds with MIDSCOPE_CUDA. Internal to core.
#pragma once

#include "core/compute/device_facts.h"

namespace midscope {

// Returns the facts of a device of kind kCuda; without memory sizes if it does not respond.
DeviceFacts CudaFacts(const DeviceName& device);

}  // namespace midscope
