// SPDX-License-Identifier: MIT
// The tensors of a trace. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/compute/compressive_memory.h"
#include "core/compute/device_faults.h"
#include "core/decoder/trace.h"
#include "kernels/types.h"

namespace midscope {

class RecordedRows;

// The stored recurrent states of one layer with a mixer, float32 in host memory.
struct MixerStates {
  at::Tensor kept;         // [row / kStateRows - 1, state]: states before rows kStateRows, ...
  at::Tensor latest;       // [state]: the state before row latest_row
  int64_t latest_row = 0;  // 0: none
};

struct Trace::Storage {
  // Keys before rotation (after the model's norm of keys, if any) and values, [capacity,
  // key_value_heads * head_dim], one tensor per layer, on the layer's device. Layers that are not
  // stored share one pair per device, except the first layer whose keys other layers read and the
  // layers above. A layer that reads another's keys has an empty tensor [capacity, 0].
  std::vector<at::Tensor> keys;
  std::vector<at::Tensor> values;
  // The residual stream before each layer and after the last: [layers + 1] tensors [capacity,
  // hidden]; empty without residual. Tensors of dropped layers are undefined, here and in
  // norm_scale and norm_mean.
  std::vector<at::Tensor> residual;
  // The statistics of each layer's input norm for the residual that enters it, [layers] tensors
  // [capacity] float32. Empty without residual or input norm (norm_mean: LayerNorm).
  std::vector<at::Tensor> norm_scale;  // 1 / rms, or 1 / deviation
  std::vector<at::Tensor> norm_mean;
  int64_t first_lent = INT64_MAX;  // ModelConfig::FirstLentLayer
  // Keys as projected, before the model's norm and clamp, with the shapes of `keys`; empty if the
  // model has neither (query_key_finish.h). Without residual, all layers of a device share one
  // tensor, because channels are then only scaled in passes that run every row.
  std::vector<at::Tensor> projected_keys;
  // Values as projected, before the model's norm and clamp, stored like projected_keys.
  std::vector<at::Tensor> projected_values;
  // For heads that an intervention replaces by their mean: the sum of the head's outputs up to each
  // row, [capacity, head_dim] float64; keyed by [layer, query head].
  std::map<std::pair<int64_t, int64_t>, at::Tensor> head_sums;
  // Channel means over the prompt's rows, used by residual plans; keyed by [layer, channel].
  std::map<std::pair<int64_t, int64_t>, double> channel_means;
  // The compressive memory of stored layers after earlier runs, keyed by layer. Dropped when a row
  // that it contains is written again.
  std::map<int64_t, SegmentMemory> memories;
  std::map<int64_t, MixerStates> mixer_states;  // of stored layers with a mixer
  // The recording of the latest re-run that can be recorded; null: none.
  std::shared_ptr<RecordedRows> recorded;
  kernels::Dtype dtype = kernels::Dtype::kFloat32;
  // Faults of the devices that the tensors are on; shared with the decoder. Null for a pass that
  // stores nothing.
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

// Allocates the tensors of a trace. devices: [layers + 1], from LayerDevices::Devices. Layers below
// first_layer are not stored; first_layer = layers if nothing is stored.
std::unique_ptr<Trace> AllocateTrace(const ModelConfig& config, kernels::Dtype dtype,
                                     int64_t capacity, bool residual, int64_t first_layer,
                                     const std::vector<at::Device>& devices);

}  // namespace midscope
