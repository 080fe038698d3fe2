// SPDX-License-Identifier: MIT
// The machine that runs kernel bodies without a GPU detects the faults that it was made to detect.
#include "tests/kernels/support/host_machine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace midscope::kernels::cuda {
namespace {

constexpr int kThreads = 64;

// Every thread writes its number and then reads that of its neighbour.
std::vector<int> NumbersOfNeighbours(bool backwards, bool barrier) {
  std::vector<int> read(kThreads, -2);
  const Grid grid{1, 1, 1, kThreads, int64_t{kThreads} * 4};
  RunOnHost(grid, backwards, [&](HostMachine& machine) {
    int* numbers = machine.Shared<int>(kThreads);
    machine.Each([&](int thread) { numbers[thread] = thread; });
    if (barrier) machine.Barrier();
    machine.Each(
        [&](int thread) { read[static_cast<size_t>(thread)] = numbers[(thread + 1) % kThreads]; });
  });
  return read;
}

TEST(HostMachine, WhatIsReadBeforeABarrierIsNotThereYet) {
  for (const bool backwards : {false, true}) {
    const std::vector<int> read = NumbersOfNeighbours(backwards, true);
    for (int i = 0; i < kThreads; ++i) EXPECT_EQ(read[static_cast<size_t>(i)], (i + 1) % kThreads);
  }
#ifndef __SANITIZE_THREAD__  // ThreadSanitizer would report these races
  constexpr int kNothing = -1;
  EXPECT_EQ(NumbersOfNeighbours(false, false)[0], kNothing);
  EXPECT_EQ(NumbersOfNeighbours(false, false)[kThreads - 1], 0);
  EXPECT_EQ(NumbersOfNeighbours(true, false)[0], 1);
  EXPECT_EQ(NumbersOfNeighbours(true, false)[kThreads - 1], kNothing);
#endif
}

TEST(HostMachine, WhatAThreadHasNotWrittenIsNotANumber) {
  RunOnHost({1, 1, 1, kWarp, 16}, false, [&](HostMachine& machine) {
    HostMachine::PerThread<float> number(machine);
    EXPECT_TRUE(std::isnan(number[0]));
    EXPECT_TRUE(std::isnan(*machine.Shared<float>(1)));
  });
}

TEST(HostMachine, GroupsOfAWarpGetTheirSumAndTheirLargest) {
  RunOnHost({1, 1, 1, kThreads, 0}, true, [&](HostMachine& machine) {
    HostMachine::PerThread<float> sum(machine);
    HostMachine::PerThread<float> largest(machine);
    int mine = 0;
    machine.Each([&](int thread) {
      mine = thread;
      sum[thread] = largest[thread] = static_cast<float>(thread);
    });
    machine.GroupSum<2>([&](int thread) -> float& { return sum[thread]; });
    machine.GroupMax<5>([&](int thread) -> float& { return largest[thread]; });
    const int first_of_four = mine - mine % 4;
    const int first_of_warp = mine - mine % kWarp;
    EXPECT_EQ(sum[mine], static_cast<float>(4 * first_of_four + 6));
    EXPECT_EQ(largest[mine], static_cast<float>(first_of_warp + kWarp - 1));
  });
}

TEST(HostMachine, ValuesOfAWarpAreExchanged) {
  RunOnHost({1, 1, 1, kThreads, 0}, true, [&](HostMachine& machine) {
    machine.Each([&](int thread) {
      constexpr int kPlace = 7;
      const auto mine = static_cast<uint32_t>(thread);
      EXPECT_EQ(machine.FromLane(mine, 5, kPlace), mine ^ 5);
    });
  });
}

TEST(HostMachine, WorkThatIsStartedBeforeIsDoneWhenABlockWaitsForIt) {
  float x = NAN;
  std::vector<float> before(kThreads, 0);
  std::vector<float> after(kThreads, 0);
  RunOnHost(
      {2, 1, 1, kWarp, 0}, false,
      [&](HostMachine& machine) {
        size_t mine = 0;
        machine.Each(
            [&](int thread) { mine = static_cast<size_t>(machine.block().x * kWarp + thread); });
#ifndef __SANITIZE_THREAD__  // ThreadSanitizer would report this race
        before[mine] = x;
#endif
        machine.AwaitEarlierWork();
        after[mine] = x;
      },
      [&] { x = 1; });
  for (size_t i = 0; i < kThreads; ++i) EXPECT_EQ(after[i], 1);
#ifndef __SANITIZE_THREAD__
  for (size_t i = 0; i < kWarp; ++i) EXPECT_TRUE(std::isnan(before[i]));
#endif
}

TEST(HostMachine, ThreadsThatPartAreAnError) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "threads that are given up are not joined";
#endif
  const Grid grid{1, 1, 1, kThreads, 0};
  const auto barrier_of_some = [](HostMachine& machine) {
    machine.Each([&](int thread) {
      if (thread < kWarp) machine.Barrier();
    });
  };
  EXPECT_THROW(RunOnHost(grid, false, barrier_of_some), std::logic_error);
  const auto sum_of_some = [](HostMachine& machine) {
    float value = 0;
    machine.Each([&](int thread) {
      if (thread != 3) machine.GroupSum<5>([&](int) -> float& { return value; });
    });
  };
  EXPECT_THROW(RunOnHost(grid, true, sum_of_some), std::logic_error);
  const auto shuffles_of_two_places = [](HostMachine& machine) {
    machine.Each([&](int thread) { machine.FromLane(0, 1, thread % 2); });
  };
  EXPECT_THROW(RunOnHost(grid, false, shuffles_of_two_places), std::logic_error);
  const auto shuffle_out_of_a_warp = [](HostMachine& machine) { machine.FromLane(0, kWarp, 0); };
  EXPECT_THROW(RunOnHost(grid, false, shuffle_out_of_a_warp), std::logic_error);
  const auto too_much = [](HostMachine& machine) { machine.Shared<float>(5); };
  EXPECT_THROW(RunOnHost({1, 1, 1, kWarp, 16}, false, too_much), std::logic_error);
}

}  // namespace
}  // namespace midscope::kernels::cuda
