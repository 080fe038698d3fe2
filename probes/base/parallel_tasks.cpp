// SPDX-License-Identifier: MIT
#include "probes/base/parallel_tasks.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace midscope {

void RunInParallel(size_t count, const std::function<void(size_t index)>& task, const char* stage,
                   const char* unit, const JobContext& context) {
  std::atomic<size_t> next = 0;
  std::atomic<size_t> done = 0;
  std::mutex mutex;
  std::exception_ptr failure;  // guarded by `mutex`
  const auto work = [&](bool reports) {
    for (size_t i = next++; i < count; i = next++) {
      try {
        context.ThrowIfCancelled();
        task(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
      ++done;
      if (reports)
        context.Report({stage, static_cast<int64_t>(done), static_cast<int64_t>(count), unit});
    }
  };
  std::vector<std::thread> others;
  const size_t threads = std::min<size_t>(std::thread::hardware_concurrency(), count);
  try {
    while (others.size() + 1 < threads) others.emplace_back(work, false);
  } catch (const std::system_error&) {  // no more threads: the existing ones run all tasks
  }
  work(true);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace midscope
