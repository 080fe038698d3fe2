// SPDX-License-Identifier: MIT
// A sweep's plan with more settings, places or samples than its file has (--add).
#pragma once

#include <string>

#include "probes/sweep/sweep_plan.h"

namespace midscope {

struct SweepAddition {
  SweepPlan plan;             // what the file has, and what is added, behind it
  bool more_samples = false;  // finished samples stay as they are
  bool more_cells = false;    // settings or places: every sample has to be run again
};

// The stored plan with the settings and places of `asked` that it lacks (places in ascending order
// where the stored ones are), and with its samples where those are more. Everything else is the
// stored plan's; the caller compares it (PlanJson), and sets how places are printed.
SweepAddition JoinPlans(const SweepPlan& stored, const SweepPlan& asked);

// Where the joined sweep grows until it takes the file's name.
std::string AdditionPath(const std::string& path);

}  // namespace midscope
