// SPDX-License-Identifier: MIT
// The JSON form of an intervention: the terms and arguments of the text form (intervention_text.h),
// each argument as a number, a text or a list of these.
//
//   {"terms": [{"term": "ms-poe", "min": 1.2, "max": 1.8},
//              {"term": "channel", "channel": [100, 215], "factor": [-1, 0], "layers": "8-25"}]}
#pragma once

#include <string>
#include <string_view>

#include "core/intervention/intervention.h"

namespace midscope {

// Every argument stated, in the text form's order; on one line.
std::string InterventionToJson(const Intervention& intervention);

// Arguments that are left out have their defaults. Throws Error (usage).
Intervention InterventionFromJson(std::string_view json);

}  // namespace midscope
