// SPDX-License-Identifier: MIT
// Sums and products of vectors, computed in double.
#pragma once

#include <functional>
#include <numeric>
#include <span>

namespace midscope {

inline double Sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Returns the dot product of vectors of equal length.
inline double Dot(std::span<const float> a, std::span<const double> b) {
  return std::transform_reduce(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace midscope
