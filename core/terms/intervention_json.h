// SPDX-License-Identifier: MIT
// The JSON form of an intervention. It has the terms and arguments of the text form
// (intervention_text.h); an argument is a number, a string or a list of these.
//
//   {"terms": [{"term": "ms-poe", "min": 1.2, "max": 1.8},
//              {"term": "channel", "channel": [100, 215], "factor": [-1, 0], "layers": "8-25"}]}
#pragma once

#include <string>
#include <string_view>

#include "core/intervention/intervention.h"

namespace midscope {

// Returns one line of JSON that states every argument, in the text form's order.
std::string InterventionToJson(const Intervention& intervention);

// Parses the JSON form; omitted arguments have their defaults. Throws Error (usage).
Intervention InterventionFromJson(std::string_view json);

}  // namespace midscope
