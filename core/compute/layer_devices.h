// SPDX-License-Identifier: MIT
// The devices of a decoder's layers, with their operations; also moves weights to them. Internal to
// core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "core/compute/layer_ops.h"
#include "core/compute/placement.h"
#include "core/compute/weights.h"
#include "kernels/parallel.h"
#include "kernels/types.h"

namespace midscope {

// Returns LibTorch's device for a device name; the CPU for `cpu:portable`.
at::Device TorchDevice(const DeviceName& name);

class LayerDevices {
 public:
  LayerDevices() = default;
  // `placement`: checked, layer counts resolved (FillLayers). `executor` must outlive this object.
  LayerDevices(const Placement& placement, kernels::Dtype dtype, const kernels::Executor& executor);
  // Uses one device for all of `layers` layers (for tests of operations on devices without a name).
  LayerDevices(std::unique_ptr<LayerOps> ops, int64_t layers);

  // Returns the operations of the layer's device; if `layer` is the number of layers, of the device
  // of the final norm and logits.
  const LayerOps& Of(int64_t layer) const;
  // Returns [layers + 1]: each layer's device, and last the device of final norm and logits.
  std::vector<at::Device> Devices() const;

 private:
  std::vector<std::unique_ptr<LayerOps>> ops_;
  std::vector<size_t> of_layer_;
};

// Moves every matrix to the device of its layer, one by one, so that at most one is in memory
// twice. GPUs keep stored matrices in blocks (WeightMatrix::MoveTo), and `devices` must then
// outlive the weights; on `cpu:portable`, matrices are always expanded. The embeddings stay in host
// memory. Throws LibTorch's exception if a device's memory is too small (DeviceFaults::Rethrow),
// and Error if a stored matrix is not finite.
void PlaceWeights(const LayerDevices& devices, const kernels::Executor& executor, Weights* weights);

}  // namespace midscope
