// SPDX-License-Identifier: MIT
// The rule of --dtype auto. It depends on the model and the machine, never on a measurement, so
// that the same command gives the same numbers.
#pragma once

#include <cstdint>
#include <string>

#include "core/compute/placement.h"
#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

// Models that are called 1.5B have up to 1.54e9 parameters.
inline constexpr int64_t kMostFloat32Parameters = 1'550'000'000;

// Returns bfloat16 if a layer is on a GPU, or if the model has more than kMostFloat32Parameters and
// the CPU multiplies bfloat16; else float32. Differences of less than 0.1 nats between settings are
// noise in bfloat16, and a small model takes little time in float32.
kernels::Dtype AutoDtype(int64_t parameters, const Placement& placement, bool bfloat16_products);

// Returns the same for this machine's CPU.
kernels::Dtype AutoDtype(const ModelConfig& config, const Placement& placement);

// Returns "dtype: auto is float32: the model has 135M parameters".
std::string AutoDtypeText(const ModelConfig& config, const Placement& placement);

}  // namespace midscope
