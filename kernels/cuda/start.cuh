// SPDX-License-Identifier: MIT
// Launches a kernel on the current GPU. Only for nvcc.
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

// Bytes of shared memory that a kernel can use without a request.
constexpr int64_t kSharedBytes = int64_t{48} << 10;

// Whether a kernel's blocks may start while the previous kernel is still running. All wait for its
// end with GpuMachine::AwaitEarlierWork, some only after they have read weights.
inline bool StartsKernelsEarly() {
  thread_local int asked = -1;
  thread_local bool early = false;
  int device = 0;
  Check(cudaGetDevice(&device), "device");
  if (device != asked) {
    int major = 0;
    Check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "device");
    constexpr int kHopper = 9;
    early = major >= kHopper;
    asked = device;
  }
  return early;
}

// Null means the default stream.
inline thread_local cudaStream_t stream_of_thread = nullptr;

template <class Arguments>
void Start(void (*kernel)(const Arguments), const Grid& grid, const Arguments& arguments,
           const char* name) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  if (grid.shared_bytes > kSharedBytes) {
    Check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(grid.shared_bytes)),
          name);
  }
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
                        static_cast<unsigned>(grid.z));
  config.blockDim = dim3(static_cast<unsigned>(grid.threads));
  config.dynamicSmemBytes = static_cast<size_t>(grid.shared_bytes);
  config.stream = stream_of_thread;
  config.attrs = &early;
  config.numAttrs = StartsKernelsEarly() ? 1 : 0;
  Check(cudaLaunchKernelEx(&config, kernel, arguments), name);
}

}  // namespace midscope::kernels::cuda
