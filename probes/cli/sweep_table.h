// SPDX-License-Identifier: MIT
// A sweep's means for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "probes/outcome_statistics.h"
#include "probes/sweep_plan.h"

namespace midscope::cli {

// {"rows": [{"setting", "setting_canonical", "place", "samples", "accuracy", "answer_nll", ...}]};
// cells [setting, place]. Intervals of fewer than two samples are null.
std::string SweepJson(const SweepPlan& plan, const std::vector<CellStatistics>& cells);
std::string SweepText(const SweepPlan& plan, const std::vector<CellStatistics>& cells);

}  // namespace midscope::cli
