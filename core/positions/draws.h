// SPDX-License-Identifier: MIT
// Code shared by samplers: a sample's random numbers and runs of integers. Internal to
// core/positions.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/random.h"

namespace midscope {

// Returns a uniform integer in [first, last], both inclusive; first <= last.
inline int64_t UniformInteger(SplitMix64& random, int64_t first, int64_t last) {
  return first + static_cast<int64_t>(random.Below(static_cast<uint64_t>(last - first) + 1));
}

// Returns a uniform multiple of 2^-53 in [0, 1).
inline double UniformShare(SplitMix64& random) {
  return static_cast<double>(random.Next() >> 11) * 0x1p-53;
}

// Appends the `count` integers first, first + 1, ...
inline void AppendRun(std::vector<int64_t>& values, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values.push_back(first + i);
}

}  // namespace midscope
