// SPDX-License-Identifier: MIT
// Formats the outcomes of a sweep's generated text, as text and as JSON.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "probes/cli/console/text_table.h"
#include "probes/sweep/generated_outcomes.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope::cli {

// Returns a table of shares by setting and place, and, for tasks whose pieces have answers, one
// matrix per setting: the place of the gold piece by the place of the piece whose answer was
// generated, without places that are never answered. Empty if nothing was generated.
Printout GeneratedTables(const SweepPlan& plan, const GeneratedOutcomes& outcomes);

// Adds the shares of generated texts of one cell to a JSON row: "generated_right",
// "generated_empty", "generated_cut" and, if pieces have answers, "answered_another",
// "answered_none". Adds nothing if nothing was generated.
void AddGeneratedCell(const GeneratedOutcomes& outcomes, size_t cell, nlohmann::ordered_json& row);

// Returns, for each setting, the share of texts that answer with the piece at each place, by gold
// place: [{"setting", "gold_places", "answered_places", "shares" [gold place][answered place]}];
// empty for tasks whose pieces have no answers.
nlohmann::ordered_json AnsweredPlacesJson(const SweepPlan& plan, const GeneratedOutcomes& outcomes);

}  // namespace midscope::cli
