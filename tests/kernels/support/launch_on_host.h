// SPDX-License-Identifier: MIT
// Executes kernels that a test launches through kernels/cuda/launch.h without a GPU. They are
// linked from launch_on_host.cpp, with bodies compiled by g++, or from nvcc's objects
// (tests/kernels/ptx).
//
//     InOrder(backwards, [&] { RowSoftmax(arguments); });
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "kernels/cuda/machine.h"
#include "tests/kernels/support/host_machine.h"

namespace midscope::test {

// If true, launched kernels do nothing.
inline thread_local bool skip_kernels = false;

struct StartOrder {
  std::optional<bool> backwards;  // order of threads; nullopt: alternates between launches
  std::function<void()> earlier;  // work started before the kernel (RunOnHost)
};
inline thread_local StartOrder start_order;

template <class Start>
void InOrder(bool backwards, const Start& start, std::function<void()> earlier = {}) {
  const struct Reset {
    ~Reset() { start_order = {}; }
  } reset;
  start_order = {backwards, std::move(earlier)};
  start();
}

// Runs a launched kernel.
template <class Body>
void RunStarted(const kernels::cuda::Grid& grid, const Body& body) {
  static thread_local bool last = false;
  last = start_order.backwards.value_or(!last);
  if (skip_kernels || grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  kernels::cuda::RunOnHost(grid, last, body, start_order.earlier);
}

}  // namespace midscope::test
