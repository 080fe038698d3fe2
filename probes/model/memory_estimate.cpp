// SPDX-License-Identifier: MIT
#include "probes/model/memory_estimate.h"

#include "core/compute/weight_storage.h"
#include "core/decoder/trace.h"

namespace midscope {

MemoryEstimate EstimateMemory(const ModelConfig& config, kernels::Dtype dtype, int64_t tokens) {
  const int64_t element = kernels::SizeOf(dtype);
  MemoryEstimate estimate;
  estimate.weight_bytes = config.parameters * element;
  estimate.stored_weight_bytes = config.stored_bytes + StoredScratchBytes(config, dtype);
  estimate.cache_bytes = tokens * TraceBytesPerRow(config, dtype, {.residual = false});
  estimate.trace_bytes = tokens * TraceBytesPerRow(config, dtype);
  estimate.attention_bytes =
      tokens * config.layers * config.heads * static_cast<int64_t>(sizeof(float));
  return estimate;
}

}  // namespace midscope
