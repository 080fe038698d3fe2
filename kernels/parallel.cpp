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

// Minimum number of multiplications of long work (ForProduct): 5 to 10 ms on two cores.
constexpr int64_t kLongWork = int64_t{1} << 30;

}  // namespace

void ForProduct(const Executor& executor, int64_t multiply_adds, int64_t count, int64_t grain,
                const std::function<void(int64_t begin, int64_t end)>& work) {
  if (multiply_adds >= kLongWork) return executor.ForOnDemand(count, grain, work);
  executor.For(count, grain, work);
}

const Executor& SerialExecutor() {
  static const Serial serial;
  return serial;
}

}  // namespace midscope::kernels
