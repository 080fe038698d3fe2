// SPDX-License-Identifier: MIT
// Outcomes of generated text by setting and place of the gold piece: right, the answer of another
// piece, empty, or cut at the limit.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/record.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

inline constexpr const char* kGeneratedOutcomes = "generated_outcomes";

// Outcomes of generated text in one cell, as shares of the samples on which the setting was run;
// NaN if there are none. Shares may overlap: a right answer can also be cut.
struct GeneratedCell {
  int64_t samples = 0;
  double right = 0;  // full score by the task's rule
  double empty = 0;
  double cut = 0;
  // `another` and `none` are NaN unless the task's pieces have answers; right + another + none = 1.
  double another = 0;            // gives the answer of another piece
  double none = 0;               // gives the answer of no piece
  std::vector<double> answered;  // share of texts by answered place; may be empty
};

struct GeneratedOutcomes {
  std::vector<int64_t> answered_places;  // places of all pieces; empty if pieces have no answers
  std::vector<GeneratedCell> cells;      // [setting, place]; empty: nothing generated
};

GeneratedOutcomes GeneratedOutcomesOf(const SweepPlan& plan,
                                      const std::vector<SampleOutcome>& outcomes);

// Makes record generated_outcomes: share_right, share_empty, share_cut and, if pieces have answers,
// share_another, share_none [setting, place], answered_place [setting, place, answered] (the share
// of samples whose text gives the answer of the piece at that place), samples [setting]. `outcomes`
// must have cells.
Record GeneratedOutcomesRecord(const SweepPlan& plan, const GeneratedOutcomes& outcomes);

}  // namespace midscope
