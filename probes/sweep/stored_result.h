// SPDX-License-Identifier: MIT
// Reads the samples of a sweep's file.
#pragma once

#include <string>

#include "data/store/record_reader.h"
#include "probes/sweep/sweep.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// Whether `midscope sweep` wrote the file and it has samples.
bool IsStoredSweep(const RunReader& reader);

// Reads the samples' outcomes (without large arrays), the failures and the tests. Throws Error
// (failure) if the file is damaged.
SweepResult ReadStoredResult(const RunReader& reader);

// Reads the records with the tests in a sweep's file, for AnalyseSweep.
std::vector<Record> ReadTests(const RunReader& reader);

struct SweepAddition {
  SweepPlan plan;             // the file's plan, followed by the additions
  bool more_samples = false;  // more samples; finished ones are unchanged
  bool more_cells = false;    // more settings or places: all samples must be run again
};

// Adds to the stored plan the settings and places of `requested` that it lacks (places in ascending
// order if the stored ones are), and takes the larger number of samples. Everything else is from
// the stored plan; the caller must check that it is equal (PlanJson), and set the printed texts of
// places.
SweepAddition JoinPlans(const SweepPlan& stored, const SweepPlan& requested);

// Returns the temporary file of the extended sweep, which replaces `path` when it is complete.
std::string AdditionPath(const std::string& path);

}  // namespace midscope
