// SPDX-License-Identifier: MIT
// Copies of arrays of many megabytes.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace midscope {

// `values`, in memory whose pages are large where the system has such on demand: to get and give
// back pages of 4 KiB takes longer than to copy what lies in them.
inline std::vector<float> LargeCopy(const std::vector<float>& values) {
  std::vector<float> copy;
  copy.reserve(values.size());
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr size_t kPage = size_t{1} << 21;
  void* first = copy.data();
  size_t bytes = values.size() * sizeof(float);
  // Whether the advice is followed makes a difference of time alone.
  if (std::align(kPage, kPage, first, bytes))
    (void)madvise(first, bytes / kPage * kPage, MADV_HUGEPAGE);
#endif
  copy.assign(values.begin(), values.end());
  return copy;
}

}  // namespace midscope
