// SPDX-License-Identifier: MIT
// Reads a GPU's name and memory. Only in builds with MIDSCOPE_CUDA. Internal to core.
#pragma once

#include "core/compute/device_facts.h"

namespace midscope {

// Returns the name and memory of a GPU. Memory sizes are 0 if the GPU does not respond.
DeviceFacts CudaFacts(const DeviceName& device);

}  // namespace midscope
