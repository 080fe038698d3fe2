// SPDX-License-Identifier: MIT
// The samples of a file that a sweep wrote.
#pragma once

#include <string>

#include "data/store/record_reader.h"
#include "probes/sweep/sweep.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// Whether a `sweep` of this program wrote the file, with samples in it.
bool IsStoredSweep(const RunReader& reader);

// The samples' outcomes, without large arrays, the failures and the tests. Throws Error (failure)
// for a damaged file.
SweepResult ReadStoredResult(const RunReader& reader);

// Summaries of a file that AnalyseSweep takes tests from.
std::vector<Record> ReadTests(const RunReader& reader);

// Extends a sweep's plan by settings, places or samples that its file lacks (--add).

struct SweepAddition {
  SweepPlan plan;             // the file's plan, followed by the additions
  bool more_samples = false;  // finished samples are unchanged
  bool more_cells = false;    // settings or places: every sample has to be run again
};

// The stored plan with the settings and places of `requested` that it lacks (places in ascending
// order where the stored ones are), and with its samples where those are more. Everything else is
// the stored plan's; the caller compares it (PlanJson), and sets how places are printed.
SweepAddition JoinPlans(const SweepPlan& stored, const SweepPlan& requested);

// The temporary file of the extended sweep, which then replaces the file.
std::string AdditionPath(const std::string& path);

}  // namespace midscope
