// SPDX-License-Identifier: MIT
// Contract: the ranges that AtenExecutor distributes cover [0, count) exactly once, begin at
// multiples of the grain, and are not empty; with dynamic distribution, a slow thread gets less.
#include "core/compute/aten_executor.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace midscope {
namespace {

using Ranges = std::vector<std::pair<int64_t, int64_t>>;
using ForMethod = void (kernels::Executor::*)(int64_t, int64_t,
                                              const std::function<void(int64_t, int64_t)>&) const;

constexpr ForMethod kMethods[] = {&kernels::Executor::For, &kernels::Executor::ForOnDemand};

Ranges RangesOf(ForMethod method, int64_t count, int64_t grain) {
  const AtenExecutor executor;
  std::mutex mutex;
  Ranges ranges;
  (executor.*method)(count, grain, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    ranges.emplace_back(begin, end);
  });
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

class AtenExecutorTest : public ::testing::Test {
 protected:
  ~AtenExecutorTest() override { at::set_num_threads(threads_); }

 private:
  int threads_ = at::get_num_threads();
};

TEST_F(AtenExecutorTest, RangesCoverTheCountOnce) {
  for (const int threads : {1, 2, 5}) {
    at::set_num_threads(threads);
    for (const ForMethod method : kMethods) {
      for (const int64_t count : {0, 1, 31, 32, 33, 1000, 4096}) {
        for (const int64_t grain : {1, 32}) {
          int64_t next = 0;
          for (const auto& [begin, end] : RangesOf(method, count, grain)) {
            EXPECT_EQ(begin, next) << count << " by " << grain;
            EXPECT_EQ(begin % grain, 0);
            EXPECT_LT(begin, end);
            next = end;
          }
          EXPECT_EQ(next, count);
        }
      }
    }
  }
}

TEST_F(AtenExecutorTest, OnDemandASlowThreadGetsLess) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
  at::set_num_threads(2);
  const std::thread::id slow = std::this_thread::get_id();
  std::atomic<int64_t> of_slow = 0;
  AtenExecutor().ForOnDemand(256, 1, [&](int64_t begin, int64_t end) {
    const bool is_slow = std::this_thread::get_id() == slow;
    if (is_slow) of_slow += end - begin;
    std::this_thread::sleep_for(std::chrono::microseconds((end - begin) * (is_slow ? 4000 : 200)));
  });
  // 256 units in two threads, one twenty times as slow: less than half are its own.
  EXPECT_LT(of_slow.load(), 128);
}

}  // namespace
}  // namespace midscope
