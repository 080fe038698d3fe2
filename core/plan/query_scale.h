// SPDX-License-Identifier: MIT
// Queries that grow with the logarithm of their position, so that attention over more keys stays as
// sharp: Self-Extend's scale_base (public code of arXiv 2401.01325) and EABF (arXiv 2401.07004).
// Internal to core.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace midscope {

// The factor of the query at this position id; 1 below `base`. base > 1.
inline double QueryScale(double position, int64_t base) {
  return std::max(1.0, std::log(position + 1) / std::log(static_cast<double>(base)));
}

}  // namespace midscope
