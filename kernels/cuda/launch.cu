// SPDX-License-Identifier: MIT
#include "kernels/cuda/launch.h"

#include <cuda_runtime.h>

#include <string>

namespace midscope::kernels::cuda {
namespace {

extern __shared__ Words shared_memory[];

__device__ std::byte* SharedBytes() { return reinterpret_cast<std::byte*>(shared_memory); }

__global__ void RotateKernel(const RotateArguments arguments) {
  GpuMachine machine(SharedBytes());
  RotateBlock(machine, arguments);
}

template <int kDim>
__global__ void __launch_bounds__(kAttentionThreads)
    AttentionKernel(const AttentionArguments arguments) {
  GpuMachine machine(SharedBytes());
  AttentionBlock<GpuMachine, kDim>(machine, arguments).Run();
}

void Check(cudaError_t error, const char* kernel) {
  if (error == cudaSuccess) return;
  throw LaunchError(std::string(kernel) + ": " + cudaGetErrorString(error));
}

template <class Arguments>
void Start(void (*kernel)(const Arguments), const Grid& grid, const Arguments& arguments,
           const char* name) {
  if (grid.x == 0 || grid.y == 0) return;
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

}  // namespace

void Rotate(const RotateArguments& arguments) {
  Start(RotateKernel, RotateGrid(arguments), arguments, "rotary embedding");
}

void Attention(const AttentionArguments& arguments, int64_t head_dim) {
  if (head_dim == 64) {
    Start(AttentionKernel<64>, AttentionGrid<64>(arguments), arguments, "attention");
  } else {
    Start(AttentionKernel<128>, AttentionGrid<128>(arguments), arguments, "attention");
  }
}

}  // namespace midscope::kernels::cuda
