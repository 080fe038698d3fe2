// SPDX-License-Identifier: MIT
#include "core/compute/cuda/cuda_device_facts.h"

#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

#include <string>

namespace midscope {

DeviceFacts CudaFacts(const DeviceName& device) {
  DeviceFacts facts{device, "GPU that does not answer"};
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, device.index) != cudaSuccess) {
    cudaGetLastError();  // otherwise the next launch would report it
    return facts;
  }
  facts.name = properties.name;
  facts.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  try {
    const c10::DeviceGuard guard(
        c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(device.index)));
    if (cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess) {
      facts.free_bytes = static_cast<int64_t>(free_bytes);
      facts.total_bytes = static_cast<int64_t>(total_bytes);
    } else {
      cudaGetLastError();
    }
  } catch (const c10::Error&) {  // a lost GPU cannot be selected either
    facts.free_bytes = facts.total_bytes = 0;
  }
  return facts;
}

}  // namespace midscope
