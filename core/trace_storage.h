// SPDX-License-Identifier: MIT
// The tensors of a trace. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/trace.h"
#include "kernels/types.h"

namespace midscope {

struct Trace::Storage {
  // Keys before rotation and values, [capacity, key_value_heads * head_dim], one pair a layer; a
  // pass that keeps no trace has one pair that all layers use in turn.
  std::vector<at::Tensor> keys;
  std::vector<at::Tensor> values;
  std::vector<at::Tensor> residual;  // [layers + 1] of [capacity, hidden]; empty without residual
  std::vector<at::Tensor> inverse_rms;  // [layers] of [capacity] float32, of the residual entering
                                        // the layer; empty without residual
  kernels::Dtype dtype = kernels::Dtype::kFloat32;

  const at::Tensor& Keys(int64_t layer) const {
    return keys[keys.size() == 1 ? 0 : static_cast<size_t>(layer)];
  }
  const at::Tensor& Values(int64_t layer) const {
    return values[values.size() == 1 ? 0 : static_cast<size_t>(layer)];
  }
};

struct ModelConfig;

// layers_kept: config.layers, or 1 for a pass that keeps nothing.
std::unique_ptr<Trace> AllocateTrace(const ModelConfig& config, kernels::Dtype dtype,
                                     int64_t capacity, bool residual, int64_t layers_kept);

}  // namespace midscope
