// SPDX-License-Identifier: MIT
// Models x tasks x sizes x seeds: the cells of a plan, each a separate sweep with its own file.
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

// In the order of models, then tasks, sizes, seeds, so that each model is opened once. `{size}` in
// a task is replaced by each of `sizes`. Throws Error (usage): a task has {size} and there are no
// sizes, there are sizes and no task has it, duplicate cells.
std::vector<SweepCell> SweepCells(const std::vector<std::string>& models,
                                  const std::vector<std::string>& tasks,
                                  const std::vector<int64_t>& sizes,
                                  const std::vector<int64_t>& seeds);

// File names of the cells, all different: "model_kv-pairs=10_seed1.h5". Files that a task names
// appear by their last path component only.
std::vector<std::string> CellFileNames(const std::vector<SweepCell>& cells);

// As above, where each cell has a file for each of several settings, [cell, setting]:
// "model_kv-pairs=10_seed1_pi-1.5.h5".
std::vector<std::string> CellFileNames(const std::vector<SweepCell>& cells,
                                       const std::vector<std::string>& settings);

}  // namespace midscope
