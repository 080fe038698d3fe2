// SPDX-License-Identifier: MIT
// The storage of a model's matrices during runs.
#pragma once

#include <cstdint>

#include "core/compute/arithmetic.h"
#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

// kExpanded: dequantised to the run's dtype when the model is opened. kStored: as in the file,
// dequantised in the products. kAuto: expanded where that takes at most 1 GiB.
enum class WeightStorage { kAuto, kStored, kExpanded };

// Resolves kAuto for this model; others are returned unchanged. Products in whole numbers read the
// file's: kAuto is then kStored.
WeightStorage ResolveStorage(WeightStorage asked, const ModelConfig& config, kernels::Dtype dtype,
                             Products products = Products::kFloat);

// Whether expanded matrices of layers on the CPU are packed (WeightMatrix::Pack). bfloat16: where
// the CPU multiplies it, and all copies together take no more than `auto` allows expanded weights.
// float32: on x86, where our product was measured to be as fast as LibTorch's or faster.
bool PacksExpanded(const ModelConfig& config, kernels::Dtype dtype);

// Bytes that packing adds to expanded weights and the blocks beside them: of bfloat16 weights that
// are not quantised, the packed ones lie beside those by which few rows are multiplied.
int64_t PackedBytesBeside(const ModelConfig& config, kernels::Dtype dtype);

// Rows of a stored matrix with `inputs` columns that are dequantised at a time.
int64_t WeightsAtOnce(int64_t inputs, kernels::Dtype dtype);

// Bytes that products of stored weights need beside the file: the block of dequantised rows.
int64_t StoredScratchBytes(const ModelConfig& config, kernels::Dtype dtype);

}  // namespace midscope
