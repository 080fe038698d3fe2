// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/term_cards.h"

#include <QObject>
#include <algorithm>
#include <cstddef>

#include "core/base/error.h"
#include "core/terms/terms.h"
#include "gui/base/head_ratios.h"

namespace midscope {
namespace {

// The rank of the term's kind: position schemes first, then the order in which settings are
// printed.
std::ptrdiff_t KindOf(const TermText& term) {
  if (GroupOf(*term.term) == TermGroup::kPositions) return -1;
  return term.term - TermTypes().data();
}

int64_t RankAt(const std::vector<TermCard>& cards, size_t place) {
  return std::count_if(
      cards.begin(), cards.begin() + static_cast<std::ptrdiff_t>(place),
      [&](const TermCard& card) { return SameKind(card.term, cards[place].term); });
}

}  // namespace

bool SameKind(const TermText& a, const TermText& b) { return KindOf(a) == KindOf(b); }

size_t PlaceFor(const TermText& term, const std::vector<TermCard>& cards) {
  size_t place = 0;
  while (place < cards.size() && KindOf(cards[place].term) <= KindOf(term)) ++place;
  return place;
}

TermText ReadTerm(const std::string& text) {
  const std::vector<TermText> terms = ReadTermTexts(text);
  if (terms.size() != 1) {
    throw UsageError("'" + text + "'", "it is not one term", "Give a term such as pi(ratio=1.5)");
  }
  return terms.front();
}

std::vector<TermCard> MakeCards(const Intervention& setting, const std::vector<OffTerm>& off) {
  std::vector<TermCard> cards;
  for (const TermText& term : SplitTerms(setting)) cards.push_back({term, true});
  std::vector<OffTerm> by_rank = off;
  std::stable_sort(by_rank.begin(), by_rank.end(),
                   [](const OffTerm& a, const OffTerm& b) { return a.rank < b.rank; });
  for (const OffTerm& one : by_rank) {
    try {
      const TermText term = ReadTerm(one.text);
      const size_t end = PlaceFor(term, cards);
      size_t place = end;
      while (place > 0 && SameKind(cards[place - 1].term, term)) --place;
      place = std::min(place + static_cast<size_t>(std::max<int64_t>(one.rank, 0)), end);
      cards.insert(cards.begin() + static_cast<std::ptrdiff_t>(place), {term, false});
    } catch (const Error&) {
      continue;
    }
  }
  return cards;
}

std::vector<TermText> TermsInForce(const std::vector<TermCard>& cards) {
  std::vector<TermText> terms;
  for (const TermCard& card : cards) {
    if (card.on) terms.push_back(card.term);
  }
  return terms;
}

std::vector<OffTerm> OffTermsOf(const std::vector<TermCard>& cards) {
  std::vector<OffTerm> off;
  for (size_t i = 0; i < cards.size(); ++i) {
    if (!cards[i].on) off.push_back({TermLine(cards[i].term), RankAt(cards, i)});
  }
  return off;
}

Intervention WithOneMore(const Intervention& setting, const std::string& term) {
  const TermText added = ReadTerm(term);
  if (GroupOf(*added.term) == TermGroup::kPositions) return WithTerm(setting, term);
  std::vector<TermText> terms = SplitTerms(setting);
  terms.push_back(added);
  return ParseIntervention(StackLine(terms));
}

QString CardText(const TermText& term) {
  if (term.term->name == "ratios" && IsEditedMsPoe(term.values.front()))
    return QObject::tr("Ms-PoE, edited");
  QString text = QString::fromStdString(term.term->name);
  bool first = true;
  for (size_t i = 0; i < term.values.size(); ++i) {
    const Parameter& argument = term.term->arguments[i];
    const std::string& value = term.values[i];
    if (value.empty()) continue;
    const bool bare = i < std::max<size_t>(term.term->bare_arguments, 1);
    const bool slides = argument.slider.first != argument.slider.last;
    if (!bare && !slides && value == ParameterText(argument.default_value)) continue;
    text += first ? QStringLiteral(" ") : QStringLiteral(" · ");
    first = false;
    if (!bare) text += QString::fromStdString(argument.name) + QLatin1Char(' ');
    text += QString::fromStdString(value);
  }
  return text;
}

}  // namespace midscope
