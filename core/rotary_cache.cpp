// SPDX-License-Identifier: MIT
#include "core/rotary_cache.h"

#include <algorithm>

namespace midscope {
namespace {

// Above this the cache starts anew; tables in use live on through their users' pointers.
constexpr int64_t kMaximumBytes = int64_t{256} << 20;
// Tables grow in steps, so that decoding token by token does not make one each.
constexpr int64_t kRowStep = 256;

}  // namespace

std::shared_ptr<const RotaryCache::Table> RotaryCache::Get(
    const std::vector<double>& inverse_frequency, double magnitude, double ratio, int64_t rows,
    const kernels::Executor& executor, kernels::CancelFlag cancel) {
  const std::lock_guard lock(mutex_);
  const Key key(inverse_frequency, magnitude, ratio);
  const auto found = tables_.find(key);
  if (found != tables_.end() && found->second->rows >= rows) return found->second;

  auto table = std::make_shared<Table>();
  table->rows = (rows + kRowStep - 1) / kRowStep * kRowStep;
  table->pairs = static_cast<int64_t>(inverse_frequency.size());
  const auto elements = static_cast<size_t>(table->rows * table->pairs);
  table->cos.resize(elements);
  table->sin.resize(elements);
  executor.For(table->rows, kRowStep, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end && !kernels::Cancelled(cancel); row += kRowStep) {
      const int64_t at = row * table->pairs;
      kernels::FillRotary(inverse_frequency, ratio, row, std::min(kRowStep, end - row), magnitude,
                          table->cos.data() + at, table->sin.data() + at);
    }
  });
  if (kernels::Cancelled(cancel)) return nullptr;

  const auto bytes = static_cast<int64_t>(2 * elements * sizeof(float));
  if (bytes_ + bytes > kMaximumBytes) {
    tables_.clear();
    bytes_ = 0;
  }
  bytes_ += bytes;
  tables_[key] = table;
  return table;
}

}  // namespace midscope
