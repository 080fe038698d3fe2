// SPDX-License-Identifier: MIT
// Where a model's matrices are while it runs.
#pragma once

#include <cstdint>

#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

// kExpanded: dequantised to the run's dtype when the model is opened. kStored: as they lie in the
// file, dequantised in the products. kAuto: expanded where that takes at most 1 GiB.
enum class WeightStorage { kAuto, kStored, kExpanded };

// What kAuto comes to for this model; others come back as they are.
WeightStorage ResolveStorage(WeightStorage asked, const ModelConfig& config, kernels::Dtype dtype);

// Rows of a stored matrix with `inputs` columns that are dequantised at a time.
int64_t WeightsAtOnce(int64_t inputs, kernels::Dtype dtype);

// Bytes that products of stored weights take beside the file: what is dequantised at a time.
int64_t StoredScratchBytes(const ModelConfig& config, kernels::Dtype dtype);

}  // namespace midscope
