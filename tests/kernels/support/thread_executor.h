// SPDX-License-Identifier: MIT
// An Executor on new std::threads, for tests. Ranges go to whichever thread is first, so that no
// code can depend on their order.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "kernels/parallel.h"

namespace midscope::kernels {

class ThreadExecutor : public Executor {
 public:
  explicit ThreadExecutor(int threads) : threads_(threads) {}
  int Threads() const override { return threads_; }
  void For(int64_t count, int64_t grain,
           const std::function<void(int64_t begin, int64_t end)>& work) const override {
    std::atomic<int64_t> next{0};
    const auto run = [&] {
      for (int64_t begin; (begin = next.fetch_add(grain)) < count;) {
        work(begin, std::min(begin + grain, count));
      }
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < threads_; ++i) threads.emplace_back(run);
    run();
    for (std::thread& thread : threads) thread.join();
  }

 private:
  int threads_;
};

}  // namespace midscope::kernels
