// SPDX-License-Identifier: MIT
// The cells of a sweep's grid, models x tasks x sizes x seeds; each is a sweep with a separate
// file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace midscope {

struct SweepCell {
  std::string model;
  std::string task;
  uint64_t seed = 1;
  bool operator==(const SweepCell&) const = default;
};

// Returns the cells, ordered by model, task, size and seed, so that each model is opened once.
// `{size}` in a task is replaced by each of `sizes`. Throws Error (usage) if a task has {size} but
// there are no sizes, if there are sizes but no task has {size}, or if there are duplicate cells.
std::vector<SweepCell> SweepCells(const std::vector<std::string>& models,
                                  const std::vector<std::string>& tasks,
                                  const std::vector<int64_t>& sizes,
                                  const std::vector<int64_t>& seeds);

// Returns unique file names of the cells: "model_kv-pairs=10_seed1.h5". Files that a task names are
// shortened to their last path component.
std::vector<std::string> CellFileNames(const std::vector<SweepCell>& cells);

// Returns unique file names for one file per cell and setting, [cell, setting]:
// "model_kv-pairs=10_seed1_pi-1.5.h5".
std::vector<std::string> CellFileNames(const std::vector<SweepCell>& cells,
                                       const std::vector<std::string>& settings);

}  // namespace midscope
