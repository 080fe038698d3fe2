// SPDX-License-Identifier: MIT
// How work on rows is cut into pieces for threads. Internal to kernels.
#pragma once

#include <algorithm>
#include <cstdint>

namespace midscope::kernels {

// Elements that make a unit of work worth handing to another thread.
inline constexpr int64_t kGrainElements = 16384;

// As many rows of `width` elements.
inline int64_t RowGrain(int64_t width) {
  return std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, width));
}

// An element of an array; null stays null.
template <class T>
T* At(void* data, int64_t offset) {
  return data ? static_cast<T*>(data) + offset : nullptr;
}
template <class T>
const T* At(const void* data, int64_t offset) {
  return data ? static_cast<const T*>(data) + offset : nullptr;
}

}  // namespace midscope::kernels
