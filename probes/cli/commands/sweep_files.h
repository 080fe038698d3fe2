// SPDX-License-Identifier: MIT
// The files of `midscope sweep`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "probes/sweep/sweep_grid.h"

namespace midscope::cli {

// Returns the file of each cell: --out itself, or a file in that folder. Every cell has a separate
// file because a store has only one plan, tasks have different places, and a killed process then
// affects only the running cell.
std::vector<std::string> SweepFiles(const OptionSet& options, const std::vector<SweepCell>& cells);

// Checks the files before a model is loaded; creates the folder if there are several. Throws Error:
// (usage) if a file already exists, or is missing for --add, or an option needs a file; (failure)
// if the folder can't be created. `ranks`: number of processes that share the sweep.
void CheckSweepFiles(const OptionSet& options, const std::vector<std::string>& files,
                     int64_t ranks);

}  // namespace midscope::cli
