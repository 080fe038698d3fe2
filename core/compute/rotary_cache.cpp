// SPDX-License-Identifier: MIT
#include "core/compute/rotary_cache.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace midscope {
namespace {

// Above this size, the cache is emptied; tables in use are kept alive by their users' pointers.
// With Ms-PoE, each head of a model has its own table: 16 MiB for 32,768 rows of 64 pairs.
constexpr int64_t kMaximumBytes = int64_t{2} << 30;
// From this cache size on, tables that the last kKeptRuns runs did not use are dropped. More than
// one run, because runs of settings A and B at several gold positions alternate.
constexpr int64_t kUnusedBytes = int64_t{32} << 20;
constexpr int64_t kKeptRuns = 16;
// Tables grow by steps of this many rows, so that decoding does not make one table per token.
constexpr int64_t kRowStep = 256;

// Fills rows first .. first + rows - 1 of a table whose rows have given ids. Integer positions are
// filled as in a table of positions 0, 1, 2, ..., so that equal positions have equal bits in both;
// consecutive ones are filled together.
void FillRowsById(const RotaryAngles& angles, int64_t first, int64_t rows,
                  const RotaryCache::Table& table) {
  const int64_t last = first + rows;
  for (int64_t row = first; row < last;) {
    const double position = angles.positions.At(row);
    float* cos = table.cos() + row * table.pairs();
    float* sin = table.sin() + row * table.pairs();
    if (position < 0 || position != std::floor(position)) {
      kernels::FillRotaryAt(angles.inverse_frequency, angles.ratio, {&position, 1},
                            angles.magnitude, cos, sin);
      ++row;
      continue;
    }
    int64_t run = 1;
    while (row + run < last &&
           angles.positions.At(row + run) == position + static_cast<double>(run))
      ++run;
    kernels::FillRotary(angles.inverse_frequency, angles.ratio, static_cast<int64_t>(position), run,
                        angles.magnitude, cos, sin);
    row += run;
  }
}

// Fills rows first .. first + rows - 1 of the table. Rows with equal positions share one
// computation of the angles.
void FillRows(const RotaryAngles& angles, int64_t first, int64_t rows,
              const RotaryCache::Table& table) {
  const RowPositions& positions = angles.positions;
  const int64_t pairs = table.pairs();
  if (positions.ids.given()) {
    FillRowsById(angles, first, rows, table);
    return;
  }
  if (positions.group == 1) {
    kernels::FillRotary(angles.inverse_frequency, angles.ratio, positions.offset + first, rows,
                        angles.magnitude, table.cos() + first * pairs, table.sin() + first * pairs);
    return;
  }
  const int64_t first_position = first / positions.group;
  const int64_t distinct = (first + rows - 1) / positions.group - first_position + 1;
  std::vector<float> cos(static_cast<size_t>(distinct * pairs));
  std::vector<float> sin(cos.size());
  kernels::FillRotary(angles.inverse_frequency, angles.ratio, positions.offset + first_position,
                      distinct, angles.magnitude, cos.data(), sin.data());
  for (int64_t row = first; row < first + rows; ++row) {
    const int64_t from = (row / positions.group - first_position) * pairs;
    std::copy_n(cos.data() + from, pairs, table.cos() + row * pairs);
    std::copy_n(sin.data() + from, pairs, table.sin() + row * pairs);
  }
}

}  // namespace

RotaryCache::Table::Table(int64_t rows, int64_t pairs)
    : rows_(rows),
      pairs_(pairs),
      cos_(std::make_unique_for_overwrite<float[]>(static_cast<size_t>(rows * pairs))),
      sin_(std::make_unique_for_overwrite<float[]>(static_cast<size_t>(rows * pairs))) {}

RotaryCache::Table::Table(RotaryAngles angles, int64_t rows)
    : Table(rows, static_cast<int64_t>(angles.inverse_frequency.size())) {
  angles_ = std::move(angles);
}

bool RotaryCache::Table::Fill(const kernels::Executor& executor, kernels::CancelFlag cancel) const {
  const std::lock_guard lock(filling_);
  if (filled_ || !angles_) return true;
  executor.For(rows_, kRowStep, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end && !kernels::Cancelled(cancel); row += kRowStep) {
      FillRows(*angles_, row, std::min(kRowStep, end - row), *this);
    }
  });
  filled_ = !kernels::Cancelled(cancel);
  return filled_;
}

std::shared_ptr<const RotaryCache::Table> RotaryCache::Reserve(const RotaryAngles& angles,
                                                               int64_t rows) {
  const std::lock_guard lock(mutex_);
  const auto found = tables_.find(angles);
  if (found != tables_.end() && found->second.table->rows() >= rows) {
    found->second.last_run = run_;
    return found->second.table;
  }
  if (found != tables_.end()) {
    bytes_ -= found->second.table->bytes();
    tables_.erase(found);
  }
  auto table = std::make_shared<Table>(angles, (rows + kRowStep - 1) / kRowStep * kRowStep);
  if (bytes_ + table->bytes() > kMaximumBytes) {
    tables_.clear();
    bytes_ = 0;
  }
  bytes_ += table->bytes();
  tables_[angles] = {table, run_};
  return table;
}

void RotaryCache::BeginRun() {
  const std::lock_guard lock(mutex_);
  ++run_;
  if (bytes_ <= kUnusedBytes) return;
  std::erase_if(tables_, [this](const auto& entry) {
    const bool unused = entry.second.last_run + kKeptRuns < run_;
    if (unused) bytes_ -= entry.second.table->bytes();
    return unused;
  });
}

int64_t RotaryCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace midscope
