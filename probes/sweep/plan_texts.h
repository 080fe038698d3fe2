// SPDX-License-Identifier: MIT
// The printed texts of a sweep's settings and places, as stored in its file: the plan in the file
// has canonical settings and ranks only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// A place's printed text: "10", or "50 %" where `texts` has it. `texts` [place]: as printed, ""
// for the rank; may be shorter than `places`.
std::string PlaceText(const std::vector<int64_t>& places, const std::vector<std::string>& texts,
                      int64_t place);
// As above, for a place of the plan.
std::string PlaceText(const SweepPlan& plan, int64_t place);
// Share of the way from the task's first place to its last, 0 to 1; NaN if the plan does not have
// it.
double PlaceShare(const SweepPlan& plan, int64_t place);

// Adds to a record over `setting` and `place`: attributes setting_N_as_given and, for controls,
// setting_N_control_of; arrays place_share [place] and, where places are printed as shares,
// place_text [place].
void NotePlanTexts(const SweepPlan& plan, Record& record);

// The reverse: sets the texts of the plan's settings and places that the record has.
void ReadPlanTexts(const Record& record, SweepPlan& plan);

}  // namespace midscope
