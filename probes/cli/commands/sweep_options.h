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

// The options, with those of --plan if they are not set.
OptionSet WithPlan(const OptionSet& options);

// The product of the options: models x tasks x sizes x seeds. Throws Error (usage).
std::vector<SweepCell> CellsOf(const OptionSet& options);

// The given settings, without controls. Throws Error (usage), also for duplicates.
std::vector<SweepSetting> ReadSettings(const OptionSet& options);

// Checks before a model is loaded. Throws Error (usage): an invalid setting or prompt format, a
// duplicate setting, an option without effect.
void CheckSweepOptions(const OptionSet& options);

// One cell's plan with its controls, checked against the model. Throws Error (usage), also if
// --samples exceeds the task's number (its default is limited to it).
SweepPlan PlanOf(const OptionSet& options, const SweepCell& cell, const Task& task,
                 const Decoder& decoder);

// With --add: the plan in the file, and the additions. `requested`: PlanOf.
SweepAddition AdditionOf(const OptionSet& options, const SweepPlan& stored, SweepPlan requested,
                         const Task& task);

}  // namespace midscope::cli
