// SPDX-License-Identifier: MIT
// Models x tasks x sizes x seeds: the cells of a plan, each a sweep of its own with a file of its
// own.
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
// a task stands for every one of `sizes`. Throws Error (usage): a task has {size} and there are no
// sizes, there are sizes and no task has it, a cell stands twice.
std::vector<SweepCell> SweepCells(const std::vector<std::string>& models,
                                  const std::vector<std::string>& tasks,
                                  const std::vector<int64_t>& sizes,
                                  const std::vector<int64_t>& seeds);

// Names of files for the cells, all different: "model_kv-pairs=10_seed1.h5". Of files that a task
// names the last part alone.
std::vector<std::string> CellFileNames(const std::vector<SweepCell>& cells);

}  // namespace midscope
