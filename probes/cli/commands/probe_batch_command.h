// SPDX-License-Identifier: MIT
// `midscope probe` over several prompts: runs the batches, prints the results, writes a summary.
#pragma once

#include <vector>

#include "probes/cli/commands/probe_batch_options.h"
#include "probes/cli/program/command.h"
#include "probes/measure/builtin/probe_registry.h"

namespace midscope::cli {

// Runs batches of prompts that RequestsBatch has checked. For one batch, prints its records; for
// several, prints a table and writes summary.json into the folder --out. If a batch fails, the
// others are still run. Throws Error, Cancelled, Interrupted.
void RunProbeCells(const CommandInput& input, const ProbeRegistry& probes,
                   const std::vector<ProbeCell>& cells);

}  // namespace midscope::cli
