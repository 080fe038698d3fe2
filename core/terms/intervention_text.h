// SPDX-License-Identifier: MIT
// The short text form of an intervention.
//
//   TERM + TERM + ...      TERM: pi(1.5), channel(100, factor=-1, layers=8-25), preset(NAME)
//   @FILE                  a file that holds the text or the JSON form
//   {"terms": [...]}       the JSON form (intervention_json.h)
//
// terms.h lists the terms, of which at most one is a position scheme. Each has one description,
// from which it is parsed and printed, and which help, forms and documentation show. The grammar is
// in intervention/intervention_grammar.h.
#pragma once

#include <string>
#include <string_view>

#include "core/intervention/intervention.h"

namespace midscope {

// Throws Error (usage) that names the column (1-based) and what was expected there, with the
// nearest known word for a typo. Reads the file of `ratios` or @FILE.
Intervention ParseIntervention(std::string_view text);

// Every argument stated, in a fixed order; ParseIntervention of it gives the same value.
std::string PrintIntervention(const Intervention& intervention);

// Whether two texts state the same setting: equal texts, or texts of equal values. False where they
// differ and one of them cannot be parsed.
bool SameSetting(const std::string& a, const std::string& b);

}  // namespace midscope
