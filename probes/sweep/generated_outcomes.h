// SPDX-License-Identifier: MIT
// Outcomes of generated text, by setting and place of the gold piece: cut at the limit, empty,
// right, or the answer of another piece.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/record.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

inline constexpr const char* kGeneratedOutcomes = "generated_outcomes";

// Shares of the samples on which the setting was run; NaN if there is none. They may overlap: a
// right answer can be cut.
struct GeneratedCell {
  int64_t samples = 0;
  double right = 0;  // a full score by the task's own scorer
  double empty = 0;
  double cut = 0;
  // Defined for tasks whose pieces have answers, else NaN; right, another and none together cover
  // all samples.
  double another = 0;            // another piece's answer
  double none = 0;               // the answer of no piece
  std::vector<double> answered;  // [place of GeneratedOutcomes::answered_places]; else empty
};

struct GeneratedOutcomes {
  std::vector<int64_t> answered_places;  // those of all pieces; empty if they have no answers
  std::vector<GeneratedCell> cells;      // [setting, place]; empty: nothing was generated, or in a
                                         // scan
};

GeneratedOutcomes GeneratedOutcomesOf(const SweepPlan& plan,
                                      const std::vector<SampleOutcome>& outcomes);

// Record generated_outcomes: share_right, share_empty, share_cut and, where pieces have answers,
// share_another, share_none [setting, place], answered_place [setting, place, answered] (the share
// of samples whose text gives the answer of the piece at that place), samples [setting]. `outcomes`
// have cells.
Record GeneratedOutcomesRecord(const SweepPlan& plan, const GeneratedOutcomes& outcomes);

}  // namespace midscope
