// SPDX-License-Identifier: GPL-3.0-or-later
// A setting as a list of terms with arguments as text, from the terms' descriptions
// (TermTypes), so that a form can edit any term.
#pragma once

#include <string>
#include <vector>

#include "core/intervention/term_type.h"
#include "core/terms/intervention_text.h"

namespace midscope {

struct TermText {
  const TermType* term = nullptr;
  std::vector<std::string> values;  // one per argument of the description, as written; "": omitted
  bool operator==(const TermText&) const = default;
};

// The terms of a text, whose values are not checked and whose files are not read; without `none`.
// Throws Error (usage) for an unknown term or argument.
std::vector<TermText> ReadTermTexts(const std::string& text);
// The terms of the printed setting; none for an empty setting.
std::vector<TermText> SplitTerms(const Intervention& intervention);
// "crop(span=gold, layers=0-7, keep=first)"; "none" for an empty list. Not checked.
std::string TermLine(const TermText& term);
std::string StackLine(const std::vector<TermText>& terms);
// Whether the parser accepts them.
bool Reads(const std::vector<TermText>& terms);

// The term with its defaults and an initial value for every required argument.
TermText NewTerm(const TermType& term);
// Initial value of a required argument without default; "" where there is no usual one.
std::string StartingValue(const TermType& term, const Parameter& argument);

// The setting with the term in place of those that it replaces: all of its name, and a position
// scheme where it is one. Throws Error (usage) where the result cannot be read.
Intervention WithTerm(const Intervention& setting, const std::string& term);

enum class TermGroup { kPositions, kChannels, kEdits };
TermGroup GroupOf(const TermType& term);

}  // namespace midscope
