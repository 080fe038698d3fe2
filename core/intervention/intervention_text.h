// SPDX-License-Identifier: MIT
// The short text form of an intervention.
//
//   TERM + TERM + ...      TERM: pi(1.5), channel(100, factor=-1, layers=8-25), preset(NAME)
//   @FILE                  a file that holds the text or the JSON form
//   {"terms": [...]}       the JSON form (intervention_json.h)
//
// A term is a position scheme (at most one; schemes/), an edit (edits/) or preset (presets.h). Each
// has one description, from which it is parsed and printed, and which help, forms and documentation
// show. The grammar is in intervention_grammar.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parameter.h"
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

struct Term {
  std::string name;     // "ms-poe"
  std::string summary;  // what it does
  std::string source;   // paper; what its public code does differently
  std::vector<Parameter> arguments;
  size_t bare_arguments = 0;  // the first ones, which may stand without their names
  // Settings that show it, as help lists them. Terms that are best shown together share one.
  std::vector<std::string> examples = {};
  // One of its settings that asks for no layer, channel or head that a small model lacks.
  std::string small_example = {};
};

// All terms, in the order in which help lists them.
const std::vector<Term>& InterventionTerms();

}  // namespace midscope
