// SPDX-License-Identifier: MIT
// cos/sin tables by frequencies and position ratio, made once and shared by the layers and heads
// with the same positions.
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

// Angles position / ratio * inverse_frequency[pair]; their cosines and sines are multiplied by
// `magnitude`.
struct RotaryAngles {
  std::vector<double> inverse_frequency;
  double magnitude = 1;
  double ratio = 1;
  RowPositions positions;
  auto operator<=>(const RotaryAngles&) const = default;  // NOLINT(modernize-use-nullptr): no 0
};

class RotaryCache {
 public:
  // cos and sin [rows, pairs], in host memory. Those of angles are formed by Fill; until then the
  // memory is reserved, and a view names the table without showing its numbers: a device may form
  // them for itself.
  class Table {
   public:
    Table(RotaryAngles angles, int64_t rows);
    // Whose numbers are set by who makes it.
    Table(int64_t rows, int64_t pairs);

    int64_t rows() const { return rows_; }
    int64_t pairs() const { return pairs_; }
    int64_t bytes() const { return static_cast<int64_t>(sizeof(float)) * 2 * rows_ * pairs_; }
    // Nothing: the numbers were set.
    const std::optional<RotaryAngles>& angles() const { return angles_; }
    float* cos() const { return cos_.get(); }
    float* sin() const { return sin_.get(); }
    kernels::RotaryView View() const { return {cos(), sin(), pairs_}; }

    // Forms the numbers where that is not done, on the executor's threads. Thread-safe. False where
    // `cancel` was set before they were formed.
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

  // A table with at least `rows` rows, filled or not. Thread-safe.
  std::shared_ptr<const Table> Reserve(const RotaryAngles& angles, int64_t rows);

  // A run begins: where the tables take more than a limit, those that the last runs did not use are
  // dropped. Every value of a dragged ratio makes one for each head. Thread-safe.
  void BeginRun();
  // Bytes of the tables that are kept.
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
