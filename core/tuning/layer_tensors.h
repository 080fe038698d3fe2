// SPDX-License-Identifier: MIT
// An attention plan as tensors. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "core/model/model_config.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// The values that a layer's attention depends on besides its input and weights.
struct LayerTensors {
  // plan: from TuningPlans.
  LayerTensors(const ModelConfig& config, int64_t index, const AttentionPlan& plan, int64_t tokens,
               at::Device device);

  int64_t index;
  std::string prefix;      // of the layer's names: "3."
  at::Tensor cos, sin;     // [token, 1, rotary pairs] float32; undefined: no rotation
  at::Tensor query_scale;  // [1, token, 1] float32; undefined: 1
  at::Tensor visible;      // [query, key] bool; undefined: all keys up to the query
  double logit_scale;
  double softcap;  // 0: none
};

}  // namespace midscope
