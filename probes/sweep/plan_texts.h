// SPDX-License-Identifier: MIT
// Stores and reads the printed texts of a sweep's settings and places in its file, because the plan
// in the file only has canonical settings and ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// Returns the printed text of a place: its entry in `texts`, such as "50 %", or its rank, "10".
// `texts`: [place], one per place, "": print the rank; may be shorter than `places`.
std::string PlaceText(const std::vector<int64_t>& places, const std::vector<std::string>& texts,
                      int64_t place);
// Returns the printed text of a place of the plan.
std::string PlaceText(const SweepPlan& plan, int64_t place);
// Returns the texts of several places: "1, 5 and 20"; "-": there are none.
std::string PlacesText(const SweepPlan& plan, const std::vector<int64_t>& places);
// Returns the relative position of a place between the task's first and last place, 0 to 1; NaN if
// the plan does not have the place.
double PlaceShare(const SweepPlan& plan, int64_t place);

// Adds the printed texts of the plan to a record over `setting` and `place`: attributes
// setting_N_as_given and, for controls, setting_N_control_of; arrays place_share [place] and, if
// places are printed as shares, place_text [place].
void NotePlanTexts(const SweepPlan& plan, Record& record);

// Stores the texts of settings and places that NotePlanTexts wrote into `record` in `plan`.
void ReadPlanTexts(const Record& record, SweepPlan& plan);

}  // namespace midscope
