// SPDX-License-Identifier: GPL-3.0-or-later
// The terms of a setting as cards. Cards are in force or switched off; terms that are switched off
// are stored beside the setting and never run.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "gui/widgets/term_list.h"

namespace midscope {

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
// The index at which a new card for that term is inserted: after the last card of its kind.
size_t PlaceFor(const TermText& term, const std::vector<TermCard>& cards);

// Returns text such as "channel 100 · factor -1 · layers 8-25": the name and the arguments that
// have a slider or differ from their defaults.
QString CardText(const TermText& term);

// Returns the setting with one term added; a position scheme replaces the present one. Throws Error
// (usage) if the result cannot be parsed.
Intervention WithOneMore(const Intervention& setting, const std::string& term);

}  // namespace midscope
