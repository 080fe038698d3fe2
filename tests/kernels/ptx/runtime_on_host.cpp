// SPDX-License-Identifier: MIT
// The functions of the CUDA runtime that nvcc's objects of kernels/cuda/*.cu call, implemented
// without a GPU: launching a kernel runs the code that translate.py made from its PTX, with
// operands in host memory. Appends the number of launches of each kernel to the file that
// MIDSCOPE_KERNEL_STARTS names.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "tests/kernels/ptx/ptx_thread.h"
#include "tests/kernels/support/launch_on_host.h"

namespace midscope::kernels::cuda::ptx {
namespace {

// Limits of a GPU of compute capability 9.0.
constexpr int kMajor = 9;
constexpr int64_t kSharedAtFirst = int64_t{48} << 10;
constexpr int kSharedAtMost = 227 << 10;
constexpr unsigned kBlocksAlongYOrZ = 65535;
constexpr unsigned kThreadsOfBlock = 1024;

struct KnownKernel {
  const NamedKernel* kernel = nullptr;
  int64_t shared_bytes = kSharedAtFirst;
  int64_t starts = 0;
};

class KnownKernels {
 public:
  // Called after the last test: programs of tests end without destructors (EndProcess).
  void WriteStarts() const {
    const char* path = std::getenv("MIDSCOPE_KERNEL_STARTS");
    if (path == nullptr) return;
    std::ofstream out(path, std::ios::app);
    for (const auto& [host, known] : of_) out << known.starts << ' ' << known.kernel->name << '\n';
  }

  // host: the address that represents a kernel in host code.
  void Add(const void* host, const std::string& name) {
    for (const NamedKernel& kernel : NamedKernels()) {
      if (kernel.name == name) of_[host].kernel = &kernel;
    }
  }
  KnownKernel& Of(const void* host) { return of_.at(host); }

 private:
  std::map<const void*, KnownKernel> of_;
};

KnownKernels& Known() {
  static KnownKernels kernels;
  return kernels;
}

class WritesStarts : public ::testing::Environment {
  void TearDown() override { Known().WriteStarts(); }
};
const ::testing::Environment* const writes_starts =
    ::testing::AddGlobalTestEnvironment(new WritesStarts);

cudaError_t StartOnHost(const cudaLaunchConfig_t& config, const void* host, void** arguments) {
  KnownKernel& known = Known().Of(host);
  const Grid grid = {config.gridDim.x, config.gridDim.y, config.gridDim.z,
                     static_cast<int>(config.blockDim.x),
                     static_cast<int64_t>(config.dynamicSmemBytes)};
  if (grid.shared_bytes > known.shared_bytes || config.gridDim.y > kBlocksAlongYOrZ ||
      config.gridDim.z > kBlocksAlongYOrZ || config.blockDim.x > kThreadsOfBlock) {
    return cudaErrorInvalidValue;
  }
  if (!test::skip_kernels) ++known.starts;
  const auto* parameters = static_cast<const std::byte*>(arguments[0]);
  test::RunStarted(grid, [&](HostMachine& machine) {
    PtxThread thread(machine, grid.shared_bytes);
    known.kernel->run(thread, parameters);
  });
  return cudaSuccess;
}

}  // namespace
}  // namespace midscope::kernels::cuda::ptx

namespace ptx = midscope::kernels::cuda::ptx;

extern "C" {  // NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): CUDA's

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  if (attribute != cudaDevAttrComputeCapabilityMajor) return cudaErrorInvalidValue;
  *value = ptx::kMajor;
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) { return "a GPU would not take it"; }

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value > ptx::kSharedAtMost)
    return cudaErrorInvalidValue;
  ptx::Known().Of(kernel).shared_bytes = value;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments) {
  return ptx::StartOnHost(*config, kernel, arguments);
}

// Functions that nvcc's part of an object calls before main and for <<<>>>, which Midscope does not
// use.
void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
// Constants are read where translate.py writes them.
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  ptx::Known().Add(host, name);
}
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, size_t*, void*) { std::abort(); }
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) { std::abort(); }
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t) {
  std::abort();
}

}  // extern "C" NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
