// SPDX-License-Identifier: MIT
#include "core/compute/aten_executor.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace midscope {

int AtenExecutor::Threads() const { return at::get_num_threads(); }

void AtenExecutor::For(int64_t count, int64_t grain,
                       const std::function<void(int64_t begin, int64_t end)>& work) const {
  const int64_t units = (count + grain - 1) / grain;
  at::parallel_for(0, units, 1, [&](int64_t begin, int64_t end) {
    work(begin * grain, std::min(end * grain, count));
  });
}

}  // namespace midscope
