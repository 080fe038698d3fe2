// SPDX-License-Identifier: MIT
// The plan in a sweep's file, and summaries of several files that were joined.
#pragma once

#include <vector>

#include "core/base/record.h"
#include "data/store/record_reader.h"
#include "data/sweep/sweep_merge.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// The plan in a sweep's file, with the given texts of its settings and places. Throws Error
// (failure) where the file is not of midscope sweep.
SweepPlan StoredPlan(const RunReader& file);

// The summaries over all samples of the merge (sweep.h), equal to those of one run. Throws Error
// (failure).
std::vector<Record> MergedSummaries(const SweepMerge& merge, const SweepPlan& plan,
                                    const JobContext& context = {});
// The same by the inputs' plan, with record merged_from. Throws Error (usage) where settings are
// joined and two inputs hold one of the same value.
std::vector<Record> MergedSummaries(const SweepMerge& merge, const JobContext& context = {});

}  // namespace midscope
