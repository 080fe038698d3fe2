// SPDX-License-Identifier: MIT
// Starts a kernel on the current GPU. For nvcc alone.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/machine.h"

namespace midscope::kernels::cuda {

extern __shared__ Words shared_memory[];

__device__ inline std::byte* SharedBytes() { return reinterpret_cast<std::byte*>(shared_memory); }

inline void Check(cudaError_t error, const char* kernel) {
  if (error == cudaSuccess) return;
  throw LaunchError(std::string(kernel) + ": " + cudaGetErrorString(error));
}

template <class Arguments>
void Start(void (*kernel)(const Arguments), const Grid& grid, const Arguments& arguments,
           const char* name) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  // Above 48 KiB a kernel has to ask.
  Check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(grid.shared_bytes)),
        name);
  const dim3 blocks(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
                    static_cast<unsigned>(grid.z));
  kernel<<<blocks, static_cast<unsigned>(grid.threads), static_cast<size_t>(grid.shared_bytes)>>>(
      arguments);
  Check(cudaGetLastError(), name);
}

}  // namespace midscope::kernels::cuda
