// SPDX-License-Identifier: MIT
// The options of `midscope sweep`: of its flags, of plan files and of what files say about
// themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/decoder/decoder.h"
#include "data/tasks/task.h"
#include "probes/sweep/sweep_addition.h"
#include "probes/sweep/sweep_grid.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope::cli {

std::vector<OptionDescription> SweepOptions();

// The options with those of --plan under them, where one is given.
OptionSet WithPlan(const OptionSet& options);

// What the options cross: models x tasks x sizes x seeds. Throws Error (usage).
std::vector<SweepCell> CellsOf(const OptionSet& options);

// The settings as they are given, without controls. Throws Error (usage), also for one that is
// given twice.
std::vector<SweepSetting> ReadSettings(const OptionSet& options);

// What can be told of them before a model loads. Throws Error (usage): a setting or a prompt format
// that can't be read, a setting given twice, an option that has no effect beside the others.
void CheckSweepOptions(const OptionSet& options);

// One cell's plan, with its controls, checked against the model. Throws Error (usage): also where
// --samples asks for more than the task has (where it was not given, fewer are taken).
SweepPlan PlanOf(const OptionSet& options, const SweepCell& cell, const Task& task,
                 const Decoder& decoder);

// With --add: the plan in the file, and what the options add to it. `asked`: PlanOf.
SweepAddition AdditionOf(const OptionSet& options, const SweepPlan& stored, SweepPlan asked,
                         const Task& task);

}  // namespace midscope::cli
