// SPDX-License-Identifier: MIT
// Estimates the work and the duration of a sweep.
#pragma once

#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "probes/sweep/sweep_grid.h"

namespace midscope::cli {

// Returns a text with the runs, tokens and estimated time of each cell, and the schedule over
// --ranks processes: the share of each rank, the time until the last one ends, the total over all
// ranks, memory, and the resources to request from a cluster. Tokens are extrapolated from each
// cell's first samples; the throughput is --throughput or measured with one prompt.
std::string DryRunText(const OptionSet& options, const std::vector<SweepCell>& cells,
                       const JobContext& job);

}  // namespace midscope::cli
