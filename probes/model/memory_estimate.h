// SPDX-License-Identifier: MIT
// Estimates a model's memory from the header of its file.
#pragma once

#include <cstdint>

#include "core/compute/arithmetic.h"
#include "core/compute/placement.h"
#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

struct MemoryEstimate {
  int64_t weight_bytes = 0;  // bytes of the weights when expanded to the dtype
  // CPU memory in addition to expanded weights: copies made while opening the model, and the blocks
  // of quantised matrices, which are used to multiply few rows, or packed matrices (PacksExpanded).
  int64_t beside_bytes = 0;
  // Bytes of the weights when kept as stored in the file, plus the buffer of dequantised rows and
  // the matrices that are always expanded to the dtype: those that compute heads' keys and values
  // from latent ones (MLA).
  int64_t stored_weight_bytes = 0;
  int64_t cache_bytes = 0;      // keys and values of a prompt
  int64_t trace_bytes = 0;      // keys, values and residual rows that what-if caches for a prompt
  int64_t attention_bytes = 0;  // last-query attention of every layer and head, float32
};

MemoryEstimate EstimateMemory(const ModelConfig& config, kernels::Dtype dtype, int64_t tokens);

// Returns the bytes of the weights with that storage (not automatic) on these devices. A placement
// that includes cpu:portable expands stored weights. Only the device cpu needs memory in addition
// to expanded weights.
int64_t WeightBytes(const MemoryEstimate& memory, WeightStorage storage,
                    const Placement& placement = {});

}  // namespace midscope
