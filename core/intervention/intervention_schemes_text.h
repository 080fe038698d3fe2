// SPDX-License-Identifier: MIT
// The text of the terms that are position schemes. Internal to core.
#pragma once

#include <string>

#include "core/intervention/intervention_grammar.h"

namespace midscope {

// The value of a term that is a position scheme; reads the file of `ratios`. Throws Error (usage).
PositionScheme ReadScheme(const TextTerm& term);

// "" for NoScheme.
std::string PrintScheme(const PositionScheme& scheme);

}  // namespace midscope
