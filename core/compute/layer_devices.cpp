// SPDX-License-Identifier: MIT
#include "core/compute/layer_devices.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "core/compute/aten_ops.h"
#include "core/compute/device_facts.h"
#include "core/compute/highway_ops.h"

#ifdef MIDSCOPE_CUDA
#include "core/compute/cuda/cuda_ops.h"
#endif

namespace midscope {
namespace {

std::unique_ptr<LayerOps> MakeGpuOps(const DeviceName& name) {
  const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(name.index));
#ifdef MIDSCOPE_CUDA
  if (RunsKernels(FactsOf(name))) return std::make_unique<CudaOps>(device);
#endif
  return std::make_unique<AtenOps>(device);
}

std::unique_ptr<LayerOps> MakeOps(const DeviceName& name, kernels::Dtype dtype,
                                  const kernels::Executor& executor) {
  switch (name.kind) {
    case DeviceKind::kCpu:
      return std::make_unique<HighwayOps>(dtype, executor);
    case DeviceKind::kCpuPortable:
      return std::make_unique<AtenOps>(at::Device(at::kCPU));
    case DeviceKind::kCuda:
      return MakeGpuOps(name);
  }
  return nullptr;
}

}  // namespace

at::Device TorchDevice(const DeviceName& name) {
  if (name.kind != DeviceKind::kCuda) return at::kCPU;
  return {at::kCUDA, static_cast<c10::DeviceIndex>(name.index)};
}

LayerDevices::LayerDevices(const Placement& placement, kernels::Dtype dtype,
                           const kernels::Executor& executor) {
  // LibTorch's default lets GPUs sum some 16-bit products in 16 bits; this requires float32 sums.
  at::globalContext().setAllowBF16ReductionCuBLAS(false);
  at::globalContext().setAllowFP16ReductionCuBLAS(false);
  for (const DeviceShare& share : placement.shares) {
    ops_.push_back(MakeOps(share.device, dtype, executor));
    of_layer_.insert(of_layer_.end(), static_cast<size_t>(share.layers), ops_.size() - 1);
  }
}

LayerDevices::LayerDevices(std::unique_ptr<LayerOps> ops, int64_t layers)
    : of_layer_(static_cast<size_t>(layers), 0) {
  ops_.push_back(std::move(ops));
}

const LayerOps& LayerDevices::Of(int64_t layer) const {
  const size_t index = std::min(static_cast<size_t>(layer), of_layer_.size() - 1);
  return *ops_[of_layer_[index]];
}

std::vector<at::Device> LayerDevices::Devices() const {
  std::vector<at::Device> devices;
  for (size_t layer = 0; layer <= of_layer_.size(); ++layer)
    devices.push_back(Of(static_cast<int64_t>(layer)).device());
  return devices;
}

void PlaceWeights(const LayerDevices& devices, const kernels::Executor& executor,
                  Weights* weights) {
  const auto place = [&](WeightMatrix& matrix, int64_t layer) {
    const LayerOps& ops = devices.Of(layer);
    if (!ops.host_memory()) matrix.MoveTo(ops.device(), ops.blocks(), executor);
  };
  const auto layers = static_cast<int64_t>(weights->layers.size());
  for (int64_t layer = 0; layer < layers; ++layer) {
    weights->layers[static_cast<size_t>(layer)].VisitProjections(
        [&](Projection& projection) { place(projection.weight, layer); });
  }
  if (weights->layer_projection.weight.outputs() > 0) place(weights->layer_projection.weight, 0);
  // The output matrix is absent if the weights are from LoadFirstLayer.
  if (weights->output.weight.outputs() > 0) place(weights->output.weight, layers);
}

}  // namespace midscope
