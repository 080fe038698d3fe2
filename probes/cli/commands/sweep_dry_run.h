// SPDX-License-Identifier: MIT
// Estimates the work of a sweep, and its duration.
#pragma once

#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "probes/sweep/sweep_grid.h"

namespace midscope::cli {

// The plan's cells with runs, tokens and estimated time, and the same distributed over --ranks:
// each rank's share, the end of the last one, the sum over all, memory, and resources to request
// from a cluster. Tokens are those of each cell's first samples; the throughput is --throughput or
// that of one prompt, run now.
std::string DryRunText(const OptionSet& options, const std::vector<SweepCell>& cells,
                       const JobContext& job);

}  // namespace midscope::cli
