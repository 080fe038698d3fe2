// SPDX-License-Identifier: MIT
#include "core/compute/aten_executor.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/base/memory_map.h"

namespace midscope {
namespace {

int64_t UnitsOf(int64_t count, int64_t grain) { return (count + grain - 1) / grain; }

// A range of work units for one thread. Its size is proportional to the remaining units, so that
// the last ranges are small and all threads finish together, however fast each core is.
struct Units {
  int64_t begin;
  int64_t end;
};

Units TakeUnits(int64_t count, int64_t threads, std::atomic<int64_t>& taken) {
  int64_t begin = taken.load(std::memory_order_relaxed);
  while (begin < count) {
    const int64_t end = begin + std::max<int64_t>((count - begin) / (2 * threads), 1);
    if (taken.compare_exchange_weak(begin, end, std::memory_order_relaxed)) return {begin, end};
  }
  return {count, count};
}

}  // namespace

void UseSignalStacks() {
  static thread_local int done = 0;
  const int threads = at::get_num_threads();
  if (std::exchange(done, threads) == threads) return;
  at::parallel_for(0, threads, 1, [](int64_t /*begin*/, int64_t /*end*/) { UseSignalStack(); });
}

int AtenExecutor::Threads() const { return at::get_num_threads(); }

void AtenExecutor::For(int64_t count, int64_t grain,
                       const std::function<void(int64_t begin, int64_t end)>& work) const {
  at::parallel_for(0, UnitsOf(count, grain), 1, [&](int64_t begin, int64_t end) {
    work(begin * grain, std::min(end * grain, count));
  });
}

void AtenExecutor::ForOnDemand(int64_t count, int64_t grain,
                               const std::function<void(int64_t begin, int64_t end)>& work) const {
  const int64_t units = UnitsOf(count, grain);
  const int64_t threads = std::min<int64_t>(at::get_num_threads(), units);
  std::atomic<int64_t> taken = 0;
  at::parallel_for(0, threads, 1, [&](int64_t /*begin*/, int64_t /*end*/) {
    for (Units next = TakeUnits(units, threads, taken); next.begin < units;
         next = TakeUnits(units, threads, taken)) {
      work(next.begin * grain, std::min(next.end * grain, count));
    }
  });
}

}  // namespace midscope
