// SPDX-License-Identifier: MIT
// Runs kernels on LibTorch's own threads, so that the program has one thread pool.
#pragma once

#include "kernels/parallel.h"

namespace midscope {

// Calls UseSignalStack (core/base/memory_map.h) in all LibTorch threads that work for the calling
// thread. Later calls with the same number of threads have no effect.
void UseSignalStacks();

class AtenExecutor : public kernels::Executor {
 public:
  int Threads() const override;
  void For(int64_t count, int64_t grain,
           const std::function<void(int64_t begin, int64_t end)>& work) const override;
  void ForOnDemand(int64_t count, int64_t grain,
                   const std::function<void(int64_t begin, int64_t end)>& work) const override;
};

}  // namespace midscope
