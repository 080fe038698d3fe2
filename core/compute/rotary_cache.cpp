// SPDX-License-Identifier: MIT
#include "core/compute/rotary_cache.h"

#include <algorithm>
#include <cmath>

namespace midscope {
namespace {

// Above this size the cache is emptied; tables in use stay alive through their users' pointers.
// The heads of a model have one each under Ms-PoE: 16 MiB for 32,768 rows of 64 pairs.
constexpr int64_t kMaximumBytes = int64_t{2} << 30;
// Tables grow in steps, so that decoding token by token does not make one per token.
constexpr int64_t kRowStep = 256;

// Rows first .. first + rows - 1 of a table whose rows have ids of their own. Whole positions are
// filled as in a table of positions 0, 1, 2, ..., so that equal positions have equal bits there and
// here; runs of them at once.
void FillRowsById(const std::vector<double>& inverse_frequency, double magnitude, double ratio,
                  const RowPositions& positions, int64_t first, int64_t rows,
                  RotaryCache::Table& table) {
  const int64_t last = first + rows;
  for (int64_t row = first; row < last;) {
    const double position = positions.At(row);
    float* cos = table.cos.data() + row * table.pairs;
    float* sin = table.sin.data() + row * table.pairs;
    if (position < 0 || position != std::floor(position)) {
      kernels::FillRotaryAt(inverse_frequency, ratio, {&position, 1}, magnitude, cos, sin);
      ++row;
      continue;
    }
    int64_t run = 1;
    while (row + run < last && positions.At(row + run) == position + static_cast<double>(run))
      ++run;
    kernels::FillRotary(inverse_frequency, ratio, static_cast<int64_t>(position), run, magnitude,
                        cos, sin);
    row += run;
  }
}

// Rows first .. first + rows - 1 of the table; the angles of a position are computed once for all
// rows with it.
void FillRows(const std::vector<double>& inverse_frequency, double magnitude, double ratio,
              const RowPositions& positions, int64_t first, int64_t rows,
              RotaryCache::Table& table) {
  const int64_t pairs = table.pairs;
  if (positions.ids.given()) {
    FillRowsById(inverse_frequency, magnitude, ratio, positions, first, rows, table);
    return;
  }
  if (positions.group == 1) {
    kernels::FillRotary(inverse_frequency, ratio, positions.offset + first, rows, magnitude,
                        table.cos.data() + first * pairs, table.sin.data() + first * pairs);
    return;
  }
  const int64_t first_position = first / positions.group;
  const int64_t distinct = (first + rows - 1) / positions.group - first_position + 1;
  std::vector<float> cos(static_cast<size_t>(distinct * pairs));
  std::vector<float> sin(cos.size());
  kernels::FillRotary(inverse_frequency, ratio, positions.offset + first_position, distinct,
                      magnitude, cos.data(), sin.data());
  for (int64_t row = first; row < first + rows; ++row) {
    const int64_t from = (row / positions.group - first_position) * pairs;
    std::copy_n(cos.data() + from, pairs, table.cos.data() + row * pairs);
    std::copy_n(sin.data() + from, pairs, table.sin.data() + row * pairs);
  }
}

}  // namespace

std::shared_ptr<const RotaryCache::Table> RotaryCache::Get(
    const std::vector<double>& inverse_frequency, double magnitude, double ratio, int64_t rows,
    RowPositions positions, const kernels::Executor& executor, kernels::CancelFlag cancel) {
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
  executor.For(table->rows, kRowStep, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end && !kernels::Cancelled(cancel); row += kRowStep) {
      FillRows(inverse_frequency, magnitude, ratio, positions, row, std::min(kRowStep, end - row),
               *table);
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
