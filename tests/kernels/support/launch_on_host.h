// SPDX-License-Identifier: MIT
// Execution of kernels that a test starts by kernels/cuda/launch.h without a GPU: those are linked
// from launch_on_host.cpp, bodies as g++ makes them, or from nvcc's objects (tests/kernels/ptx).
//
//     InOrder(backwards, [&] { RowSoftmax(arguments); });
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "kernels/cuda/machine.h"
#include "tests/kernels/support/host_machine.h"

namespace midscope::test {

// Kernels that are started do nothing.
inline thread_local bool skip_kernels = false;

struct StartOrder {
  std::optional<bool> backwards;  // threads; nothing: one start so, the next one the other way
  std::function<void()> earlier;  // what was started before (RunOnHost)
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

// Runs a started kernel.
template <class Body>
void RunStarted(const kernels::cuda::Grid& grid, const Body& body) {
  static thread_local bool last = false;
  last = start_order.backwards.value_or(!last);
  if (skip_kernels || grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  kernels::cuda::RunOnHost(grid, last, body, start_order.earlier);
}

}  // namespace midscope::test
