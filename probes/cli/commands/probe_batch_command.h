// SPDX-License-Identifier: MIT
// `midscope probe` over several prompts: runs the batches, prints them, writes their summary.
#pragma once

#include <vector>

#include "probes/cli/commands/probe_cells.h"
#include "probes/cli/program/command.h"
#include "probes/plugin/probe_registry.h"

namespace midscope::cli {

// Checked options of RequestsBatch. One batch prints its records; several print a table, and write
// summary.json into the folder --out. A batch that fails does not prevent the others. Throws Error,
// Cancelled, Interrupted.
void RunProbeCells(const CommandInput& input, const ProbeRegistry& probes,
                   const std::vector<ProbeCell>& cells);

}  // namespace midscope::cli
