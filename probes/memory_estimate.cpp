// SPDX-License-Identifier: MIT
#include "probes/memory_estimate.h"

namespace midscope {

MemoryEstimate EstimateMemory(const ModelConfig& config, kernels::Dtype dtype, int64_t tokens) {
  const int64_t element = kernels::SizeOf(dtype);
  MemoryEstimate estimate;
  estimate.weight_bytes = config.parameters * element;
  estimate.cache_bytes =
      tokens * config.layers * 2 * config.key_value_heads * config.head_dim * element;
  // The stream entering each layer, and leaving the last, and each row's norm.
  estimate.trace_bytes = estimate.cache_bytes +
                         tokens * (config.layers + 1) * config.hidden * element +
                         tokens * config.layers * static_cast<int64_t>(sizeof(float));
  estimate.attention_bytes =
      tokens * config.layers * config.heads * static_cast<int64_t>(sizeof(float));
  return estimate;
}

}  // namespace midscope
