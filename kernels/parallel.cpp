// SPDX-License-Identifier: MIT
#include "kernels/parallel.h"

namespace midscope::kernels {
namespace {

class Serial : public Executor {
 public:
  int Threads() const override { return 1; }
  void For(int64_t count, int64_t /*grain*/,
           const std::function<void(int64_t begin, int64_t end)>& work) const override {
    if (count > 0) work(0, count);
  }
};

}  // namespace

const Executor& SerialExecutor() {
  static const Serial serial;
  return serial;
}

}  // namespace midscope::kernels
