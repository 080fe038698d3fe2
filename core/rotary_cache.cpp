// SPDX-License-Identifier: MIT
#include "core/rotary_cache.h"

#include <algorithm>

namespace midscope {
namespace {

// Above this the cache starts anew; tables in use live on through their users' pointers.
constexpr int64_t kMaximumBytes = int64_t{256} << 20;
// Tables grow in steps, so that decoding token by token does not make one each.
constexpr int64_t kRowStep = 256;

// One table's cos and sin, each position's angles once for every row that stands there.
void FillRows(const std::vector<double>& inverse_frequency, double magnitude, double ratio,
              const RowPositions& positions, RotaryCache::Table& table) {
  if (positions.group == 1) {
    kernels::FillRotary(inverse_frequency, ratio, positions.offset, table.rows, magnitude,
                        table.cos.data(), table.sin.data());
    return;
  }
  const int64_t distinct = (table.rows - 1) / positions.group + 1;
  const auto pairs = static_cast<std::ptrdiff_t>(table.pairs);
  std::vector<float> cos(static_cast<size_t>(distinct * table.pairs));
  std::vector<float> sin(cos.size());
  kernels::FillRotary(inverse_frequency, ratio, positions.offset, distinct, magnitude, cos.data(),
                      sin.data());
  for (std::ptrdiff_t row = 0; row < table.rows; ++row) {
    const std::ptrdiff_t from = row / positions.group * pairs;
    std::copy_n(cos.begin() + from, pairs, table.cos.begin() + row * pairs);
    std::copy_n(sin.begin() + from, pairs, table.sin.begin() + row * pairs);
  }
}

}  // namespace

std::shared_ptr<const RotaryCache::Table> RotaryCache::Get(
    const std::vector<double>& inverse_frequency, double magnitude, double ratio, int64_t rows,
    RowPositions positions) {
  const std::lock_guard lock(mutex_);
  const Key key(inverse_frequency, magnitude, ratio, positions);
  const auto found = tables_.find(key);
  if (found != tables_.end() && found->second->rows >= rows) return found->second;

  auto table = std::make_shared<Table>();
  table->rows = (rows + kRowStep - 1) / kRowStep * kRowStep;
  table->pairs = static_cast<int64_t>(inverse_frequency.size());
  const auto elements = static_cast<size_t>(table->rows * table->pairs);
  table->cos.resize(elements);
  table->sin.resize(elements);
  FillRows(inverse_frequency, magnitude, ratio, positions, *table);

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
