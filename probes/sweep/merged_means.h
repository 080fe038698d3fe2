// SPDX-License-Identifier: MIT
// The plan in a sweep's file, and summaries of several files that were joined.
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

// The plan in a sweep's file, with the given texts of its settings and places. Throws Error
// (failure) if the file is not of midscope sweep.
SweepPlan StoredPlan(const RunReader& file);

// The summaries over all samples of the merge (sweep.h), equal to those of one run. Throws Error
// (failure).
std::vector<Record> MergedSummaries(const SweepMerge& merge, const SweepPlan& plan,
                                    const JobContext& context = {});
// As above, by the inputs' plan, with record merged_from. Throws Error (usage) if settings are
// joined and two inputs hold one of the same value.
std::vector<Record> MergedSummaries(const SweepMerge& merge, const JobContext& context = {});

// Means of settings from earlier comparisons, over the same samples as the running one: means over
// 3 samples and over 20 cannot be compared.

struct Comparison {
  SweepPlan plan;
  SweepResult result;
};

// The first `samples` samples of a result.
SweepResult FirstSamples(SweepResult result, int64_t samples);

// Adds to `means` (outcome_means) the settings of `beside` for which a comparison at these places
// has at least that many samples, over the first `samples` of them.
void AddMeansBeside(const std::map<std::string, Comparison>& comparisons,
                    const std::vector<Intervention>& beside, int64_t samples,
                    const std::vector<int64_t>& places, Record& means);

// Sets answer_nll_difference, ..._low, ..._high [setting, place] of `means` to the mean difference
// of each setting to `against`, in nats, over the same samples, with its 95 % interval, and the
// attribute `against` to that setting. `comparison`: the running one, of which `means` is; other
// settings are looked up as by AddMeansBeside. No effect where `against` is not among them.
void SetDifferences(const std::map<std::string, Comparison>& comparisons,
                    const Comparison& comparison, const Intervention& against, Record& means);

}  // namespace midscope
