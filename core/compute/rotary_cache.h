// SPDX-License-Identifier: MIT
// cos/sin tables by frequencies and position ratio, made once and shared by the layers and heads
// with the same positions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "core/base/row_range.h"
#include "kernels/parallel.h"
#include "kernels/rotary.h"

namespace midscope {

class RotaryCache {
 public:
  struct Table {
    int64_t rows = 0;
    int64_t pairs = 0;
    std::vector<float> cos;  // [rows, pairs]
    std::vector<float> sin;
    kernels::RotaryView View() const { return {cos.data(), sin.data(), pairs}; }
  };

  // A table with at least `rows` rows, made on the executor's threads. Thread-safe. Null where
  // `cancel` was set before it was made.
  std::shared_ptr<const Table> Get(const std::vector<double>& inverse_frequency, double magnitude,
                                   double ratio, int64_t rows, RowPositions positions = {},
                                   const kernels::Executor& executor = kernels::SerialExecutor(),
                                   kernels::CancelFlag cancel = nullptr);

 private:
  using Key = std::tuple<std::vector<double>, double, double, RowPositions>;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Table>> tables_;
  int64_t bytes_ = 0;
};

}  // namespace midscope
