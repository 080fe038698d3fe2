// SPDX-License-Identifier: GPL-3.0-or-later
// A setting as a list of terms with their arguments as text, based on the descriptions of terms
// (TermTypes), so that forms can edit every term.
#pragma once

#include <string>
#include <vector>

#include "core/intervention/term_type.h"
#include "core/terms/intervention_text.h"

namespace midscope {

struct TermText {
  const TermType* term = nullptr;
  std::vector<std::string> values;  // one per described argument, as written; "": omitted
  bool operator==(const TermText&) const = default;
};

// Parses a text into terms, omitting `none`, without checking values or reading files. Throws Error
// (usage) for an unknown term or argument.
std::vector<TermText> ReadTermTexts(const std::string& text);
// The terms of the printed setting; no terms for an empty setting.
std::vector<TermText> SplitTerms(const Intervention& intervention);
// Prints terms: "crop(span=gold, layers=0-7, keep=first)", or "none" for an empty list. Does not
// check them.
std::string TermLine(const TermText& term);
std::string StackLine(const std::vector<TermText>& terms);
// Whether the terms, as text, can be parsed.
bool Reads(const std::vector<TermText>& terms);

// A new term of that type, with defaults and an initial value for every required argument.
TermText NewTerm(const TermType& term);
// Initial value of a required argument without default; "" if there is no usual value.
std::string StartingValue(const TermType& term, const Parameter& argument);

// The setting with the term added. It replaces all terms of the same name and, if it is a position
// scheme, the present scheme. Throws Error (usage) if the result cannot be parsed.
Intervention WithTerm(const Intervention& setting, const std::string& term);

enum class TermGroup { kPositions, kChannels, kEdits };
TermGroup GroupOf(const TermType& term);

}  // namespace midscope
