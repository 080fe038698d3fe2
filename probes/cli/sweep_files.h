// SPDX-License-Identifier: MIT
// Where `midscope sweep` writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "probes/sweep/sweep_grid.h"

namespace midscope::cli {

// Where each cell's samples go: --out itself, or a file of its own in that folder. A store holds
// one plan, and tasks differ in their places: one file a cell keeps every file simple, and a kill
// touches the cell under way alone.
std::vector<std::string> SweepFiles(const OptionSet& options, const std::vector<SweepCell>& cells);

// What can be told of them before a model is loaded; makes the folder of several files. Throws
// Error: (usage) a file is there that may not be, or is not there for --add, an option needs a
// file, (failure) the folder can't be made. `ranks`: processes that share the sweep.
void CheckSweepFiles(const OptionSet& options, const std::vector<std::string>& files,
                     int64_t ranks);

}  // namespace midscope::cli
