// SPDX-License-Identifier: MIT
// The threads of kernels: kernels are passed an Executor and own no threads, so that the whole
// program uses one thread pool.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

namespace midscope::kernels {

class Executor {
 public:
  virtual ~Executor() = default;
  // Returns the number of calls of `work` that may run at once; at least 1.
  virtual int Threads() const = 0;
  // Calls work(begin, end) for disjoint ranges that cover [0, count), whose lengths, except the
  // last, are multiples of `grain`; returns when all calls have returned. `work` must not throw.
  virtual void For(int64_t count, int64_t grain,
                   const std::function<void(int64_t begin, int64_t end)>& work) const = 0;
  // Like For, for long work: threads take smaller and smaller ranges as they finish earlier ones,
  // so that all finish together even if cores differ in speed or are shared with other programs.
  // Makes more calls of `work`. By default the same as For.
  virtual void ForOnDemand(int64_t count, int64_t grain,
                           const std::function<void(int64_t begin, int64_t end)>& work) const {
    For(count, grain, work);
  }
};

// Calls ForOnDemand if that number of multiplications is long work, else For.
void ForProduct(const Executor& executor, int64_t multiply_adds, int64_t count, int64_t grain,
                const std::function<void(int64_t begin, int64_t end)>& work);

// Returns an executor that runs everything on the calling thread.
const Executor& SerialExecutor();

// Set by another thread if the result is no longer needed. Null means never.
using CancelFlag = const std::atomic<bool>*;

inline bool Cancelled(CancelFlag flag) { return flag && flag->load(std::memory_order_relaxed); }

// The rest divides work on rows into ranges; internal to kernels. The number of elements for which
// it pays to pass the work to another thread.
inline constexpr int64_t kGrainElements = 16384;

// Returns how many rows of `width` elements hold kGrainElements elements; at least 1.
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
