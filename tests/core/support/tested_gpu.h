// SPDX-License-Identifier: MIT
// The device for tests of CudaOps: the first GPU, or, in the program of tests/core/cuda_host, the
// CPU, which executes the kernels' bodies.
#pragma once

#include <c10/core/Device.h>

#include <optional>

#include "core/compute/device_facts.h"
#include "core/compute/placement.h"

namespace midscope::test {

inline std::optional<c10::Device> TestedGpu() {
#ifdef MIDSCOPE_KERNELS_ON_HOST
  return c10::Device(c10::kCPU);
#else
  if (AvailableDevices().back().kind != DeviceKind::kCuda) return std::nullopt;
  return c10::Device(c10::kCUDA, 0);
#endif
}

}  // namespace midscope::test
