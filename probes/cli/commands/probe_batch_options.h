// SPDX-License-Identifier: MIT
// The command-line options of `midscope probe` for several prompts, from a task or a plan file.
#pragma once

#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/engine/probe_batch.h"
#include "probes/prompt/prompt_format.h"
#include "probes/sweep/sweep_grid.h"

namespace midscope::cli {

// Returns the options places and samples.
std::vector<Parameter> BatchOptions();

// Returns whether the options request several prompts. Throws Error (usage) if they do and there is
// no task, or --place is also given. Called before a model is loaded.
bool RequestsBatch(const OptionSet& options);

// Makes a batch of prompts: --samples samples from number --sample on, each at the gold places
// --places. `tokenizer` must outlive it. Throws Error (usage).
ProbeBatch ReadBatch(const OptionSet& options, const PromptFormat& format,
                     const Tokenizer& tokenizer);

// One batch of a plan file (models x tasks x sizes x seeds x settings), with the command's options
// as if only this batch had been requested.
struct ProbeCell {
  SweepCell cell;
  std::string setting;  // setting as given; "none" by default
  OptionSet options;
};

// Returns the options plan, resume and dry-run.
std::vector<Parameter> ProbePlanOptions();

// Returns the batches, ordered by model, task, size, seed and setting, so that each model is opened
// once. In the plan, `model`, `task`, `size` (numbers for {size} in a task), `seed` and `with` may
// be lists; all other options have one value, and the command line overrides the file. If there are
// several batches, `out` of each is a separate file in the given folder. Without --plan, returns
// one batch with the options themselves. Throws Error in the same cases as WithPlanFile and
// SweepCells.
std::vector<ProbeCell> ProbeCells(const OptionSet& command_line);

}  // namespace midscope::cli
