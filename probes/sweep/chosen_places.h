// SPDX-License-Identifier: MIT
// Restricts the results of a sweep to some of its gold places.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/sweep/sweep.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// Parses a list of places of a sweep for --places: ranks and ranges ("10,15-20"), or places as they
// are printed ("25 %", "25%"). Returns their indices in `places`, ascending. `texts`: printed texts
// (SweepPlan::place_texts). Throws Error (usage) if a place is not one of the sweep's or occurs
// twice.
std::vector<size_t> ParseChosenPlaces(const std::string& text, const std::vector<int64_t>& places,
                                      const std::vector<std::string>& texts);

// Returns "places 10, 15, 20 of 1, 5, 10, 15, 20": the chosen and all places, each as it is
// printed.
std::string ChosenPlacesText(const std::vector<size_t>& chosen, const std::vector<int64_t>& places,
                             const std::vector<std::string>& texts);

// Removes all places except the chosen ones from the plan and the outcomes; also removes the file's
// tests, which are over all places. `chosen`: indices in plan.places. Throws std::logic_error if an
// outcome does not have the plan's settings and places.
void KeepPlaces(const std::vector<size_t>& chosen, SweepPlan& plan, SweepResult& result);

}  // namespace midscope
