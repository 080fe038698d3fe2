// SPDX-License-Identifier: MIT
#include "core/compute/cuda/cuda_graph.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>
#include <utility>

#include "kernels/cuda/launch.h"

namespace midscope {
namespace {

class CudaGraphWork : public RecordedWork {
 public:
  CudaGraphWork(at::Device device, std::unique_ptr<at::cuda::CUDAGraph> graph,
                std::vector<at::Tensor> read)
      : device_(device), read_(std::move(read)), graph_(std::move(graph)) {}
  void Start() const override {
    const c10::DeviceGuard guard(device_);
    graph_->replay();
  }

 private:
  at::Device device_;
  std::vector<at::Tensor> read_;  // memory that the graph reads but did not allocate
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
};

bool Throws(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

// Whether `work` was recorded. Unsupported work ends the recording with an exception.
bool Recorded(at::cuda::CUDAGraph& graph, c10::DeviceIndex gpu, const std::function<void()>& work) {
  const at::cuda::MempoolId_t pool = at::cuda::graph_pool_handle();
  const bool failed = Throws([&] {
    // In this capture mode, other threads may use GPUs while the work is recorded.
    graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
    work();
  });
  const bool broken = Throws([&] { graph.capture_end(); });
  // If CUDA aborted the recording, LibTorch's allocator is still recording: stops it.
  if (broken) Throws([&] { c10::cuda::CUDACachingAllocator::endAllocateToPool(gpu, pool); });
  if (failed || broken) cudaGetLastError();  // otherwise the next launch would report it
  return !failed && !broken;
}

}  // namespace

std::unique_ptr<RecordedWork> RecordGraph(at::Device device, const std::function<void()>& work,
                                          const std::vector<at::Tensor>& read) {
  const c10::DeviceGuard guard(device);
  // Waits for the inputs of `work`, because the stream that records must not wait for other work.
  c10::cuda::getCurrentCUDAStream().synchronize();
  const c10::cuda::CUDAStream stream =
      c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index());
  const c10::cuda::CUDAStreamGuard on_stream(stream);
  const kernels::cuda::OnStream kernels_on_stream(stream.stream());
  auto graph = std::make_unique<at::cuda::CUDAGraph>();
  if (!Recorded(*graph, device.index(), work)) return nullptr;
  return std::make_unique<CudaGraphWork>(device, std::move(graph), read);
}

}  // namespace midscope
