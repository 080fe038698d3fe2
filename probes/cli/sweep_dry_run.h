// SPDX-License-Identifier: MIT
// What a sweep would run, and how long it would take.
#pragma once

#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "probes/sweep/sweep_grid.h"

namespace midscope::cli {

// The plan's cells with runs, tokens and estimated time, and the same spread over --ranks: how much
// each has, when the last is done, what all take together, in memory too, and what to ask a cluster
// for. The tokens are those of each cell's first samples; the throughput is --throughput or that of
// one prompt, run now.
std::string DryRunText(const OptionSet& options, const std::vector<SweepCell>& cells,
                       const JobContext& job);

}  // namespace midscope::cli
