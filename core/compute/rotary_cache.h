// SPDX-License-Identifier: MIT
// cos/sin tables for frequencies and a position ratio, computed once and shared by all layers and
// heads with the same positions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/base/row_range.h"
#include "kernels/parallel.h"
#include "kernels/rotary.h"

namespace midscope {

// The inputs of a rotary table. Angles are position / ratio * inverse_frequency[pair]; cosines and
// sines are multiplied by `magnitude`.
struct RotaryAngles {
  std::vector<double> inverse_frequency;
  double magnitude = 1;
  double ratio = 1;
  RowPositions positions;
  auto operator<=>(const RotaryAngles&) const = default;  // NOLINT(modernize-use-nullptr): no 0
};

class RotaryCache {
 public:
  // A rotary table: cos and sin [rows, pairs], in host memory. For a table of angles, Fill computes
  // the numbers; until then the memory is only reserved, and a view identifies the table without
  // containing its numbers, because a device may compute them itself.
  class Table {
   public:
    Table(RotaryAngles angles, int64_t rows);
    // A table whose numbers are set by the caller.
    Table(int64_t rows, int64_t pairs);

    int64_t rows() const { return rows_; }
    int64_t pairs() const { return pairs_; }
    int64_t bytes() const { return static_cast<int64_t>(sizeof(float)) * 2 * rows_ * pairs_; }
    // The angles from which Fill computes the numbers; nullopt if the caller sets the numbers.
    const std::optional<RotaryAngles>& angles() const { return angles_; }
    float* cos() const { return cos_.get(); }
    float* sin() const { return sin_.get(); }
    kernels::RotaryView View() const { return {cos(), sin(), pairs_}; }

    // Computes the numbers on the executor's threads, unless that is done already. Thread-safe.
    // Returns false if `cancel` was set before they were complete.
    bool Fill(const kernels::Executor& executor, kernels::CancelFlag cancel = nullptr) const;

   private:
    int64_t rows_;
    int64_t pairs_;
    std::optional<RotaryAngles> angles_;
    std::unique_ptr<float[]> cos_;
    std::unique_ptr<float[]> sin_;
    mutable std::mutex filling_;
    mutable bool filled_ = false;
  };

  // Returns a table with at least `rows` rows, which may not be filled yet. Thread-safe.
  std::shared_ptr<const Table> Reserve(const RotaryAngles& angles, int64_t rows);

  // Must be called when a run begins. If the tables exceed a memory limit, those that the last runs
  // did not use are dropped: while a ratio is dragged, each of its values makes a table per head.
  // Thread-safe.
  void BeginRun();
  // Returns the bytes of all cached tables.
  int64_t bytes() const;

 private:
  struct Entry {
    std::shared_ptr<const Table> table;
    int64_t last_run = 0;
  };

  mutable std::mutex mutex_;
  std::map<RotaryAngles, Entry> tables_;
  int64_t bytes_ = 0;
  int64_t run_ = 0;
};

}  // namespace midscope
