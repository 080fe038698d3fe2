// SPDX-License-Identifier: MIT
// The files of `midscope sweep`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "probes/sweep/sweep_grid.h"

namespace midscope::cli {

// The file of each cell: --out itself, or a file in that folder. A store holds one plan, and tasks
// differ in their places: one file per cell keeps every file simple, and a kill affects only the
// running cell.
std::vector<std::string> SweepFiles(const OptionSet& options, const std::vector<SweepCell>& cells);

// Checks before a model is loaded; creates the folder of several files. Throws Error: (usage) a
// file exists that must not, or does not exist for --add, an option needs a file, (failure) the
// folder can't be created. `ranks`: processes that share the sweep.
void CheckSweepFiles(const OptionSet& options, const std::vector<std::string>& files,
                     int64_t ranks);

}  // namespace midscope::cli
