// SPDX-License-Identifier: MIT
// The summaries of sweeps that were joined from several files.
#pragma once

#include <vector>

#include "core/base/record.h"
#include "data/sweep/sweep_merge.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// The plan that a sweep's file states. Settings are as canonical text has them. Throws Error
// (failure) where the JSON is no plan of midscope sweep.
SweepPlan ReadPlan(const std::string& path, const std::string& plan_json);

// The summaries over all samples of the merge (sweep.h), as one run would have made them. Throws
// Error (failure).
std::vector<Record> MergedSummaries(const SweepMerge& merge, const SweepPlan& plan);
// The same by the plan that the inputs state, with record merged_from.
std::vector<Record> MergedSummaries(const SweepMerge& merge);

}  // namespace midscope
