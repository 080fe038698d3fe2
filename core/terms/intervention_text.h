// SPDX-License-Identifier: MIT
// The short text form of an intervention.
//
//   TERM + TERM + ...      TERM: pi(1.5), channel(100, factor=-1, layers=8-25), preset(NAME)
//   @FILE                  a file that holds the text or the JSON form
//   {"terms": [...]}       the JSON form (intervention_json.h)
//
// terms.h lists the terms, of which at most one is a position scheme. Each has one description,
// which is used to parse and print it and is shown by help, forms and documentation. The grammar is
// in intervention/intervention_grammar.h.
#pragma once

#include <string>
#include <string_view>

#include "core/intervention/intervention.h"

namespace midscope {

// Throws Error (usage) that names the column (1-based) and what was expected there, with the
// nearest known word for a typo. Reads the file that `ratios` or @FILE names.
Intervention ParseIntervention(std::string_view text);

// Returns a text that states every argument, in a fixed order; ParseIntervention of it gives an
// equal value.
std::string PrintIntervention(const Intervention& intervention);

// Whether two texts state the same setting, that is, are equal or parse to equal values. False if
// they differ and one of them cannot be parsed.
bool SameSetting(const std::string& a, const std::string& b);

}  // namespace midscope
