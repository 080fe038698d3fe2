// SPDX-License-Identifier: GPL-3.0-or-later
// The terms of a setting as cards: those that are in force, and those that are switched off, which
// are kept beside the setting and never run.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "gui/widgets/term_list.h"

namespace midscope {

// A term that is switched off, as text, so that a file that it names need not exist.
struct OffTerm {
  std::string text;  // "pi(ratio=1.5)"
  int64_t rank = 0;  // number of cards of its kind before it, those in force included
  bool operator==(const OffTerm&) const = default;
};

struct TermCard {
  TermText term;
  bool on = true;
  bool operator==(const TermCard&) const = default;
};

// In the order of the printed setting, each switched-off term at its rank among those of its kind.
// All position schemes are one kind. Of the terms that are off, one that the grammar refuses is
// left out.
std::vector<TermCard> MakeCards(const Intervention& setting, const std::vector<OffTerm>& off);
// The cards that are in force, in their order.
std::vector<TermText> TermsInForce(const std::vector<TermCard>& cards);
std::vector<OffTerm> OffTermsOf(const std::vector<TermCard>& cards);
// Throws Error (usage) where the text is not one term that is known, with arguments that it has.
TermText ReadTerm(const std::string& text);

// Whether both are of one kind. Only cards of one kind have an order: between kinds it has no
// meaning, and the printed setting has its own.
bool SameKind(const TermText& a, const TermText& b);
// The place among the cards at which a term of that kind is added: behind the last of its kind.
size_t PlaceFor(const TermText& term, const std::vector<TermCard>& cards);

// "channel 100 · factor -1 · layers 8-25": the name, and what differs from the defaults.
QString CardText(const TermText& term);

}  // namespace midscope
