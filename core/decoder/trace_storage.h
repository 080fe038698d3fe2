// SPDX-License-Identifier: MIT
// The tensors of a trace. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/compute/device_faults.h"
#include "core/compute/segment_memory.h"
#include "core/decoder/trace.h"
#include "kernels/types.h"

namespace midscope {

class RecordedRows;

struct Trace::Storage {
  // Keys before rotation (after the model's norm of keys, if any) and values, [capacity,
  // key_value_heads * head_dim], [layers] of them, each on its layer's device. Layers that are not
  // kept share one pair per device.
  std::vector<at::Tensor> keys;
  std::vector<at::Tensor> values;
  // [layers + 1] of [capacity, hidden]; empty without residual. Here and in the norms below, those
  // of dropped layers are undefined.
  std::vector<at::Tensor> residual;
  // The statistics of the layer's input norm on the residual entering it, [layers] of [capacity]
  // float32; empty without residual, and where the model has no such norm (norm_mean: no
  // LayerNorm).
  std::vector<at::Tensor> norm_scale;  // 1 / rms, or 1 / deviation
  std::vector<at::Tensor> norm_mean;
  // Keys as projected, like `keys`; empty where those are equal (query_key_finish.h). Without
  // residual one per device, shared by all its layers: only a pass that runs every row then scales
  // channels.
  std::vector<at::Tensor> projected_keys;
  // As above, for values.
  std::vector<at::Tensor> projected_values;
  // For heads whose mean an intervention takes, [layer, query head]: the sum of the head's outputs
  // up to each row, [capacity, head_dim] float64.
  std::map<std::pair<int64_t, int64_t>, at::Tensor> head_sums;
  // Means of channels over the prompt's rows that residual plans take, [layer, channel].
  std::map<std::pair<int64_t, int64_t>, double> channel_means;
  // For kept layers with a compressive memory: its state after earlier runs. Dropped when a row in
  // it is written again.
  std::map<int64_t, SegmentMemory> memories;
  // The latest re-run of a kind that can be recorded; null: none.
  std::shared_ptr<RecordedRows> recorded;
  kernels::Dtype dtype = kernels::Dtype::kFloat32;
  // Faults of the devices that the tensors are on; shared with the decoder. Null for a pass that
  // keeps nothing.
  std::shared_ptr<const DeviceFaults> faults;

  const at::Tensor& Keys(int64_t layer) const { return keys[static_cast<size_t>(layer)]; }
  const at::Tensor& ProjectedKeys(int64_t layer) const {
    if (projected_keys.empty()) return Keys(layer);
    return projected_keys[static_cast<size_t>(layer)];
  }
  const at::Tensor& Values(int64_t layer) const { return values[static_cast<size_t>(layer)]; }
  const at::Tensor& ProjectedValues(int64_t layer) const {
    if (projected_values.empty()) return Values(layer);
    return projected_values[static_cast<size_t>(layer)];
  }
};

// devices: [layers + 1], as LayerDevices::Devices. Layers below first_layer are not kept;
// first_layer = layers where a pass keeps nothing.
std::unique_ptr<Trace> AllocateTrace(const ModelConfig& config, kernels::Dtype dtype,
                                     int64_t capacity, bool residual, int64_t first_layer,
                                     const std::vector<at::Device>& devices);

}  // namespace midscope
