// SPDX-License-Identifier: GPL-3.0-or-later
// A setting as a list of terms whose arguments are text, out of the one description of the terms
// (InterventionTerms): what a form for a term that nobody knew of when the form was written needs.
#pragma once

#include <string>
#include <vector>

#include "core/intervention/intervention_text.h"

namespace midscope {

struct TermText {
  const Term* term = nullptr;
  std::vector<std::string> values;  // one an argument of the description, as written; "": left out
  bool operator==(const TermText&) const = default;
};

// The terms of the printed form; none for an empty setting.
std::vector<TermText> SplitTerms(const Intervention& intervention);
// "crop(span=gold, layers=0-7, keep=first)"; "none" for an empty list. Not checked.
std::string TermLine(const TermText& term);
std::string StackLine(const std::vector<TermText>& terms);
// Whether the grammar takes them.
bool Reads(const std::vector<TermText>& terms);

// The term with its defaults and, where an argument must be given, something to begin with.
TermText NewTerm(const Term& term);
// What an argument that must be given and has no default begins with; "" where nothing is usual.
std::string StartingValue(const Term& term, const TermArgument& argument);

enum class TermGroup { kPositions, kChannels, kEdits };
// Every term that is not known as another kind is a position scheme.
TermGroup GroupOf(const Term& term);

// Whether the argument takes whole numbers alone, which the description does not say: the parser is
// asked.
bool TakesWholeNumbers(const Term& term, size_t argument);

}  // namespace midscope
