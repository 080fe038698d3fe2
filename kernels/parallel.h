// SPDX-License-Identifier: MIT
// Interface to the threads that run kernels: callers pass an Executor, so that the whole program
// uses one thread pool.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

namespace midscope::kernels {

class Executor {
 public:
  virtual ~Executor() = default;
  // Returns the number of calls of `work` that may run at the same time; at least 1.
  virtual int Threads() const = 0;
  // Calls work(begin, end) for disjoint ranges that cover [0, count), whose lengths, except the
  // last, are multiples of `grain`; returns when all calls have returned. `work` must not throw.
  virtual void For(int64_t count, int64_t grain,
                   const std::function<void(int64_t begin, int64_t end)>& work) const = 0;
  // Like For, for long work: each thread that has finished a range gets the next, smaller one, so
  // that all finish together even if cores differ in speed or are shared with other programs. Calls
  // `work` more often than For. The default implementation calls For.
  virtual void ForOnDemand(int64_t count, int64_t grain,
                           const std::function<void(int64_t begin, int64_t end)>& work) const {
    For(count, grain, work);
  }
};

// Calls ForOnDemand if work of `multiply_adds` multiplications in total is long, else For.
void ForProduct(const Executor& executor, int64_t multiply_adds, int64_t count, int64_t grain,
                const std::function<void(int64_t begin, int64_t end)>& work);

// Returns an executor that runs everything on the calling thread.
const Executor& SerialExecutor();

// Flag that another thread sets to cancel a kernel. Null: the kernel can't be cancelled.
using CancelFlag = const std::atomic<bool>*;

inline bool Cancelled(CancelFlag flag) { return flag && flag->load(std::memory_order_relaxed); }

// Internal to kernels, like the functions below: minimum number of elements per thread; passing
// fewer to another thread costs more than it saves.
inline constexpr int64_t kGrainElements = 16384;

// Returns the number of rows of `width` elements with about kGrainElements elements; at least 1.
inline int64_t RowGrain(int64_t width) {
  return std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, width));
}

// Returns the address of element `offset` of an array; null if the array is null.
template <class T>
T* At(void* data, int64_t offset) {
  return data ? static_cast<T*>(data) + offset : nullptr;
}
template <class T>
const T* At(const void* data, int64_t offset) {
  return data ? static_cast<const T*>(data) + offset : nullptr;
}

}  // namespace midscope::kernels
