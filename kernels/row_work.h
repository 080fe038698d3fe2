// SPDX-License-Identifier: MIT
// Divides work on rows into ranges for threads. Internal to kernels.
#pragma once

#include <algorithm>
#include <cstdint>

namespace midscope::kernels {

// The number of elements for which it pays to pass the work to another thread.
inline constexpr int64_t kGrainElements = 16384;

// Returns the number of rows of `width` elements with that many elements.
inline int64_t RowGrain(int64_t width) {
  return std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, width));
}

// Returns the address of an array's element; null stays null.
template <class T>
T* At(void* data, int64_t offset) {
  return data ? static_cast<T*>(data) + offset : nullptr;
}
template <class T>
const T* At(const void* data, int64_t offset) {
  return data ? static_cast<const T*>(data) + offset : nullptr;
}

}  // namespace midscope::kernels
