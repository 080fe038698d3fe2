// SPDX-License-Identifier: MIT
#include "core/compute/cuda_graph.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/DeviceGuard.h>
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
  std::vector<at::Tensor> read_;  // memory that the graph reads and has not allocated
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
};

// Whether `work` was recorded. What can't be ends the recording with an exception.
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

std::unique_ptr<RecordedWork> RecordGraph(at::Device device, const std::function<void()>& work,
                                          const std::vector<at::Tensor>& read) {
  const c10::DeviceGuard guard(device);
  // What the work reads is there before it is recorded, on a stream that waits for nothing.
  c10::cuda::getCurrentCUDAStream().synchronize();
  const c10::cuda::CUDAStream stream =
      c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index());
  const c10::cuda::CUDAStreamGuard on_stream(stream);
  const kernels::cuda::OnStream kernels_on_stream(stream.stream());
  auto graph = std::make_unique<at::cuda::CUDAGraph>();
  if (!Recorded(*graph, work)) return nullptr;
  return std::make_unique<CudaGraphWork>(device, std::move(graph), read);
}

}  // namespace midscope
