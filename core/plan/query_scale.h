// SPDX-License-Identifier: MIT
// Queries that grow with the logarithm of their position, so that attention over more keys stays as
// sharp: Self-Extend's scale_base (public code of arXiv 2401.01325), EABF (arXiv 2401.07004), and
// what a model was made with (Llama 4's scaling in ministral3 of transformers).
// Internal to core.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/model/model_config.h"

namespace midscope {

// The factor of the query at this position id; 1 below `base`. base > 1.
inline double QueryScale(double position, int64_t base) {
  return std::max(1.0, std::log(position + 1) / std::log(static_cast<double>(base)));
}

// The model's own; 1 below the context.
inline double QueryGrowth(double position, const ModelConfig& config) {
  return 1.0 +
         config.query_growth * std::log(1.0 + std::floor(position / config.query_growth_context));
}

}  // namespace midscope
