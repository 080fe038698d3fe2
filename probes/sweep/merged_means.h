// SPDX-License-Identifier: MIT
// What files of sweeps state: their plan, and the summaries of several that were joined.
#pragma once

#include <vector>

#include "core/base/record.h"
#include "data/store/record_reader.h"
#include "data/sweep/sweep_merge.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// The plan that a sweep's file states, its settings and places with the texts that were given.
// Throws Error (failure) where it is none of midscope sweep.
SweepPlan StoredPlan(const RunReader& file);

// The summaries over all samples of the merge (sweep.h), as one run would have made them. Throws
// Error (failure).
std::vector<Record> MergedSummaries(const SweepMerge& merge, const SweepPlan& plan);
// The same by the plan that the inputs state, with record merged_from. Throws Error (usage) where
// settings are joined and two inputs hold one of the same value.
std::vector<Record> MergedSummaries(const SweepMerge& merge);

}  // namespace midscope
