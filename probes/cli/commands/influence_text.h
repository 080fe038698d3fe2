// SPDX-License-Identifier: MIT
// The output of `midscope influence`.
#pragma once

#include <nlohmann/json.hpp>

#include "core/base/record.h"
#include "probes/cli/console/text_table.h"

namespace midscope::cli {

// Returns the tables of record influence_by_place (`by_place`). Place 0 denotes own text.
Printout InfluenceText(const Record& by_place);

// Returns record influence_by_place as JSON: `rows` (by place and layer), `parts` (by place, layer
// and part), `shares` (by share of the prompt) and `cesaro`, the fitted closed form; null if it
// could not be fitted.
nlohmann::ordered_json InfluenceJson(const Record& by_place);

}  // namespace midscope::cli
