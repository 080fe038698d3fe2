// SPDX-License-Identifier: MIT
// A model's memory, estimated from its file's header.
#pragma once

#include <cstdint>

#include "core/compute/arithmetic.h"
#include "core/compute/placement.h"
#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

struct MemoryEstimate {
  int64_t weight_bytes = 0;  // expanded to the dtype
  // Memory of the CPU in addition to expanded weights: copies that opening made, the blocks of
  // quantised matrices, by which few rows are multiplied, or else packed matrices (PacksExpanded).
  int64_t beside_bytes = 0;
  // As stored in the file, plus the buffer of dequantised rows and what is in the dtype
  // nevertheless: the matrices that make heads' keys and values of latent ones (MLA).
  int64_t stored_weight_bytes = 0;
  int64_t cache_bytes = 0;      // keys and values of the prompt
  int64_t trace_bytes = 0;      // keys, values and residual rows: the cache of what-if for a prompt
  int64_t attention_bytes = 0;  // last-query attention of every layer and head, float32
};

MemoryEstimate EstimateMemory(const ModelConfig& config, kernels::Dtype dtype, int64_t tokens);

// Bytes of the weights with that storage (resolved) on these devices: stored ones stay so except on
// cpu:portable, which, like GPUs, has nothing in addition to expanded ones.
int64_t WeightBytes(const MemoryEstimate& memory, WeightStorage storage,
                    const Placement& placement = {});

}  // namespace midscope
