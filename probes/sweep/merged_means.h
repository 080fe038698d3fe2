// SPDX-License-Identifier: MIT
// Reads the plan in a sweep's file, and summarises several joined files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/intervention/intervention.h"
#include "data/store/record_reader.h"
#include "data/sweep/sweep_merge.h"
#include "probes/sweep/sweep.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// Returns the plan in a sweep's file, with the settings and places as the user gave them. Throws
// Error (failure) if `midscope sweep` did not write the file.
SweepPlan StoredPlan(const RunReader& file);

// Returns the summaries (SweepSummaries) over all samples of the merged files, equal to the
// summaries of a single run. Throws Error (failure).
std::vector<Record> MergedSummaries(const SweepMerge& merge, const SweepPlan& plan,
                                    const JobContext& context = {});
// Returns the summaries over all samples of the merge, with the plan of the merged files, and
// record merged_from. Throws Error (usage) if settings are joined and two files share one.
std::vector<Record> MergedSummaries(const SweepMerge& merge, const JobContext& context = {});

// An earlier comparison, kept by the window. Its means are recomputed over the samples of the
// running comparison, because means over 3 and over 20 samples are not comparable.

struct Comparison {
  SweepPlan plan;
  SweepResult result;
};

// Returns the result with only the samples whose number is below `samples`.
SweepResult FirstSamples(SweepResult result, int64_t samples);

// Adds to `means` (outcome_means) the settings of `beside` for which a kept comparison at `places`
// has at least `samples` samples; their means are over the first `samples`.
void AddMeansBeside(const std::map<std::string, Comparison>& comparisons,
                    const std::vector<Intervention>& beside, int64_t samples,
                    const std::vector<int64_t>& places, Record& means);

// Sets answer_nll_difference, ..._low, ..._high [setting, place] of `means` to the mean difference
// of each setting from `against` over the same samples, in nats, with its 95 % interval, and the
// attribute `against` to that setting. `comparison`: the running comparison, to which `means`
// belongs; other settings are found as in AddMeansBeside. No effect if `against` is not found.
void SetDifferences(const std::map<std::string, Comparison>& comparisons,
                    const Comparison& comparison, const Intervention& against, Record& means);

// Adds array kNllBySample [setting, sample, place], answer_nll in nats, to `means`, for the samples
// of the running comparison; NaN: not run. The window compares two models with it.
void AddSamples(const std::map<std::string, Comparison>& comparisons, const Comparison& comparison,
                Record& means);

}  // namespace midscope
