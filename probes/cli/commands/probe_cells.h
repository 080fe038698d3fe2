// SPDX-License-Identifier: MIT
// The batches of probes that a plan file requests: models x tasks x sizes x seeds x settings, each
// with a separate file.
#pragma once

#include <string>
#include <vector>

#include "core/base/options.h"
#include "probes/sweep/sweep_grid.h"

namespace midscope::cli {

// One batch: the command's options, as if it had been requested alone.
struct ProbeCell {
  SweepCell cell;
  std::string setting;  // "none", or as given
  OptionSet options;
};

// plan, resume, dry-run, overwrite and what they are about.
std::vector<Parameter> ProbePlanOptions();

// In the order of models, tasks, sizes, seeds and settings, so that each model is opened once. In
// the plan `model`, `task`, `size` (numbers for {size} in a task), `seed` and `with` may be lists;
// all other options have one value, and the command line overrides the file. The option `out` of
// several batches is the file of each in the folder that was given. Without --plan: the options
// themselves. Throws Error as WithPlanFile and SweepCells do.
std::vector<ProbeCell> ProbeCells(const OptionSet& command_line);

}  // namespace midscope::cli
