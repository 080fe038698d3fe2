// SPDX-License-Identifier: GPL-3.0-or-later
// The terms of a setting as cards. Cards are in force or switched off; terms that are switched off
// are stored beside the setting and never run.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "core/intervention/term_type.h"
#include "core/terms/intervention_text.h"

namespace midscope {

// A setting as a list of terms with their arguments as text, based on the descriptions of terms
// (TermTypes), so that forms can edit every term.

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

// A switched-off term. It is stored as text, so that a file that it names need not exist.
struct OffTerm {
  std::string text;  // "pi(ratio=1.5)"
  int64_t rank = 0;  // number of cards of the same kind before it, including those in force
  bool operator==(const OffTerm&) const = default;
};

struct TermCard {
  TermText term;
  bool on = true;
  bool operator==(const TermCard&) const = default;
};

// The cards in the order of the printed setting, with each switched-off term at its rank among the
// cards of its kind. All position schemes are one kind. Omits switched-off terms that cannot be
// parsed.
std::vector<TermCard> MakeCards(const Intervention& setting, const std::vector<OffTerm>& off);
// The terms of the cards that are in force, in the order of the cards.
std::vector<TermText> TermsInForce(const std::vector<TermCard>& cards);
std::vector<OffTerm> OffTermsOf(const std::vector<TermCard>& cards);
// Throws Error (usage) unless the text is exactly one known term with known arguments.
TermText ReadTerm(const std::string& text);

// Whether both terms are of one kind. Order matters only among terms of one kind; between kinds the
// printed setting has a fixed order.
bool SameKind(const TermText& a, const TermText& b);
// The index at which a new card for `term` is inserted: after the last card of its kind.
size_t PlaceFor(const TermText& term, const std::vector<TermCard>& cards);

// Returns text such as "channel 100 · factor -1 · layers 8-25": the name and the arguments that
// have a slider or differ from their defaults.
QString CardText(const TermText& term);

// Returns the setting with one term added; a position scheme replaces the present one. Throws Error
// (usage) if the result cannot be parsed.
Intervention WithOneMore(const Intervention& setting, const std::string& term);

}  // namespace midscope
