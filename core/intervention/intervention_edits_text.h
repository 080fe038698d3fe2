// SPDX-License-Identifier: MIT
// The text of the terms that edit attention: crop, move, boost, ablate, temperature. Internal to
// core.
#pragma once

#include <string>
#include <vector>

#include "core/intervention/intervention_grammar.h"

namespace midscope {

// Adds the term to the intervention; false where it is none of these. Throws Error (usage).
bool AddEdit(const TextTerm& term, Intervention& intervention);

// One text a term, in a fixed order.
std::vector<std::string> PrintEdits(const Intervention& intervention);

}  // namespace midscope
