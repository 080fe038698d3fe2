// SPDX-License-Identifier: MIT
// The options of `midscope sweep`, from flags, plan files and existing files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/decoder/decoder.h"
#include "data/tasks/task.h"
#include "probes/sweep/stored_result.h"
#include "probes/sweep/sweep_grid.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope::cli {

std::vector<Parameter> SweepOptions();

// Returns `options` with options of the plan file --plan added, except those that `options` sets.
OptionSet WithPlan(const OptionSet& options);

// Returns the cells of the sweep's grid: models x tasks x sizes x seeds. Throws Error (usage).
std::vector<SweepCell> CellsOf(const OptionSet& options);

// Returns the settings of --with, without controls. Throws Error (usage), also for duplicates.
std::vector<SweepSetting> ReadSettings(const OptionSet& options);

// Checks the options before a model is loaded. Throws Error (usage) for an invalid setting or
// prompt format, a duplicate setting, or an option without effect.
void CheckSweepOptions(const OptionSet& options);

// Returns the plan of one cell with its controls, checked against the model. Throws Error (usage),
// also if --samples exceeds the task's number of samples (the default never does).
SweepPlan PlanOf(const OptionSet& options, const SweepCell& cell, const Task& task,
                 const Decoder& decoder);

// For --add: returns what `requested`, from PlanOf, adds to `stored`, the plan in the file.
SweepAddition AdditionOf(const OptionSet& options, const SweepPlan& stored, SweepPlan requested,
                         const Task& task);

// Returns the file of each cell of the grid: --out itself, or a file in the folder --out. Every
// cell has a separate file because a store has only one plan, tasks have different places, and a
// killed process then affects only the running cell.
std::vector<std::string> SweepFiles(const OptionSet& options, const std::vector<SweepCell>& cells);

// Checks the results files before a model is loaded; creates their folder if there are several.
// Throws Error: (usage) if a file already exists, or is missing for --add, or an option needs a
// file; (failure) if it can't be created. `ranks`: number of processes that share the sweep.
void CheckSweepFiles(const OptionSet& options, const std::vector<std::string>& files,
                     int64_t ranks);

}  // namespace midscope::cli
