// SPDX-License-Identifier: MIT
#include "probes/model/memory_estimate.h"

#include "core/decoder/trace.h"
#include "probes/model/tensor_library.h"

namespace midscope {

namespace {

// Bytes of the matrices that compute heads' keys and values from latent ones (MLA); they are always
// expanded.
int64_t LatentOutBytes(const ModelConfig& config, kernels::Dtype dtype) {
  const LatentAttention& latent = config.latent;
  return config.layers * config.heads * (latent.plain + latent.value) * latent.rank *
         kernels::SizeOf(dtype);
}

}  // namespace

MemoryEstimate EstimateMemory(const ModelConfig& config, kernels::Dtype dtype, int64_t tokens) {
  LoadTensorLibrary();
  const int64_t element = kernels::SizeOf(dtype);
  MemoryEstimate estimate;
  estimate.weight_bytes = config.parameters * element;
  estimate.beside_bytes = config.copied_bytes;
  if (dtype != kernels::Dtype::kFloat16) estimate.beside_bytes += config.quantised_bytes;
  estimate.beside_bytes += PackedBytesBeside(config, dtype);
  estimate.stored_weight_bytes =
      config.stored_bytes + StoredScratchBytes(config, dtype) + LatentOutBytes(config, dtype);
  if (MustExpand(config)) estimate.stored_weight_bytes = estimate.weight_bytes;
  estimate.cache_bytes = tokens * TraceBytesPerRow(config, dtype, {.residual = false});
  estimate.trace_bytes = tokens * TraceBytesPerRow(config, dtype);
  estimate.attention_bytes =
      tokens * config.layers * config.heads * static_cast<int64_t>(sizeof(float));
  return estimate;
}

int64_t WeightBytes(const MemoryEstimate& memory, WeightStorage storage,
                    const Placement& placement) {
  if (storage == WeightStorage::kStored && !placement.Has(DeviceKind::kCpuPortable))
    return memory.stored_weight_bytes;
  return memory.weight_bytes + (placement.Has(DeviceKind::kCpu) ? memory.beside_bytes : 0);
}

}  // namespace midscope
