// SPDX-License-Identifier: MIT
// How kernels get threads: they are handed an Executor and own none, so that one thread pool serves
// the whole program.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace midscope::kernels {

class Executor {
 public:
  virtual ~Executor() = default;
  // Number of calls of `work` that may run at once; at least 1.
  virtual int Threads() const = 0;
  // Calls work(begin, end) for disjoint ranges that cover [0, count), each but the last a multiple
  // of `grain` long; returns when all have returned. `work` must not throw.
  virtual void For(int64_t count, int64_t grain,
                   const std::function<void(int64_t begin, int64_t end)>& work) const = 0;
  // As For, for long work: threads take ever smaller ranges as they finish earlier ones, so that
  // all end together where cores differ in speed or are shared with other programs. Costs some more
  // calls of `work`. Equals For where a subclass has nothing better.
  virtual void ForOnDemand(int64_t count, int64_t grain,
                           const std::function<void(int64_t begin, int64_t end)>& work) const {
    For(count, grain, work);
  }
};

// ForOnDemand where that many multiplications are long work, else For.
void ForProduct(const Executor& executor, int64_t multiply_adds, int64_t count, int64_t grain,
                const std::function<void(int64_t begin, int64_t end)>& work);

// Runs everything on the calling thread.
const Executor& SerialExecutor();

// Set by another thread when the result is no longer needed. Null means: never.
using CancelFlag = const std::atomic<bool>*;

inline bool Cancelled(CancelFlag flag) { return flag && flag->load(std::memory_order_relaxed); }

}  // namespace midscope::kernels
