// SPDX-License-Identifier: MIT
// The devices of a decoder's layers, with their operations; moves the weights there. Internal to
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

class LayerDevices {
 public:
  LayerDevices() = default;
  // `placement`: with every layer count resolved, checked. `executor` must outlive this object.
  LayerDevices(const Placement& placement, kernels::Dtype dtype, const kernels::Executor& executor);
  // One device for all of `layers` layers (for tests of operations on devices without a name).
  LayerDevices(std::unique_ptr<LayerOps> ops, int64_t layers);

  // Device of the layer; `layer` = number of layers: of the final norm and logits.
  const LayerOps& Of(int64_t layer) const;
  // [layer + 1], the last is that of the final norm and logits.
  std::vector<at::Device> Devices() const;

 private:
  std::vector<std::unique_ptr<LayerOps>> ops_;
  std::vector<size_t> of_layer_;
};

// Moves every matrix to the device of its layer, one by one, so that at most one exists twice. GPUs
// keep the blocks of stored matrices (WeightMatrix::MoveTo), which `devices` must then outlive;
// `cpu:portable` has expanded ones, in any storage. The embeddings stay in host memory. Throws
// LibTorch's exception where a device's memory is too small (DeviceFaults::Rethrow), Error where a
// stored matrix is not finite.
void PlaceWeights(const LayerDevices& devices, const kernels::Executor& executor, Weights* weights);

}  // namespace midscope
