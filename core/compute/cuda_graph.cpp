// SPDX-License-Identifier: MIT
// CudaOps' recorded work: a CUDA graph of LibTorch's operations and of kernels of kernels/cuda. One
// start for some hundred kernels, of which each costs the CPU microseconds.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>
#include <utility>

#include "core/compute/cuda_ops.h"
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
  std::vector<at::Tensor> read_;  // memory that the graph reads and has not allocated
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
};

// Whether `work` was recorded. What waits for the GPU, or copies between it and memory that is not
// pinned, ends the recording with an exception: the work can't be recorded.
bool Recorded(at::cuda::CUDAGraph& graph, const std::function<void()>& work) {
  bool whole = true;
  try {
    // Other threads may go on using their GPUs.
    graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    work();
  } catch (const std::exception&) {
    whole = false;
  }
  try {
    graph.capture_end();
  } catch (const std::exception&) {
    whole = false;
  }
  if (!whole) cudaGetLastError();  // or the next kernel would be told of it
  return whole;
}

}  // namespace

std::unique_ptr<RecordedWork> CudaOps::Record(const std::function<void()>& work) const {
  const c10::DeviceGuard guard(device());
  // What the work reads is there before it is recorded, on a stream that waits for nothing.
  c10::cuda::getCurrentCUDAStream().synchronize();
  const c10::cuda::CUDAStream stream =
      c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device().index());
  const c10::cuda::CUDAStreamGuard on_stream(stream);
  const kernels::cuda::OnStream kernels_on_stream(stream.stream());
  std::vector<at::Tensor> read;
  recorded_ = &read;
  auto graph = std::make_unique<at::cuda::CUDAGraph>();
  const bool whole = Recorded(*graph, work);
  recorded_ = nullptr;
  if (!whole) return nullptr;
  return std::make_unique<CudaGraphWork>(device(), std::move(graph), std::move(read));
}

}  // namespace midscope
