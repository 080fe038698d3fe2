// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/term_cards.h"

#include <QObject>
#include <algorithm>
#include <cstddef>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/intervention/intervention_grammar.h"
#include "core/terms/terms.h"
#include "gui/base/head_ratios.h"

namespace midscope {

namespace {

std::string AtomText(const TextAtom& atom) {
  return atom.quoted ? '"' + atom.text + '"' : atom.text;
}

std::string ValueText(const TextArgument& argument) {
  if (!argument.list) return AtomText(argument.values.front());
  std::string text = "[";
  for (size_t i = 0; i < argument.values.size(); ++i) {
    text += (i > 0 ? "," : "") + AtomText(argument.values[i]);
  }
  return text + "]";
}

void SetValues(const TextTerm& parsed, TermText& term) {
  for (const TextArgument& argument : parsed.arguments) {
    for (size_t i = 0; i < term.values.size(); ++i) {
      if (parsed.term->arguments[i].name == argument.name) term.values[i] = ValueText(argument);
    }
  }
}

}  // namespace

std::vector<TermText> ReadTermTexts(const std::string& text) {
  std::vector<TermText> terms;
  for (const TextTerm& parsed : ParseTerms(text, TermTypes())) {
    if (parsed.term->name == "none") continue;
    TermText term{parsed.term, std::vector<std::string>(parsed.term->arguments.size())};
    SetValues(parsed, term);
    terms.push_back(std::move(term));
  }
  return terms;
}

std::vector<TermText> SplitTerms(const Intervention& intervention) {
  return ReadTermTexts(PrintIntervention(intervention));
}

std::string TermLine(const TermText& term) {
  std::string arguments;
  for (size_t i = 0; i < term.values.size(); ++i) {
    if (term.values[i].empty()) continue;
    arguments += arguments.empty() ? "" : ", ";
    arguments += term.term->arguments[i].name + "=" + term.values[i];
  }
  return arguments.empty() ? term.term->name : term.term->name + "(" + arguments + ")";
}

std::string StackLine(const std::vector<TermText>& terms) {
  std::string text;
  for (const TermText& term : terms) text += (text.empty() ? "" : " + ") + TermLine(term);
  return text.empty() ? "none" : text;
}

bool Reads(const std::vector<TermText>& terms) {
  try {
    ParseIntervention(StackLine(terms));
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string StartingValue(const TermType& term, const Parameter& argument) {
  if (!argument.choices.empty()) return argument.choices.front();
  if (argument.kind == ParameterKind::kSpan) return "gold";
  if (argument.kind == ParameterKind::kHeads) return "L0H0";
  if (argument.kind == ParameterKind::kLayers) return "all";
  // A channel that encodes position in many models; the example scales it to 0.
  if (argument.name == "channel") return "100";
  if (term.name == "channel" && argument.name == "factor") return "0";
  if (!IsNumber(argument)) return "";
  return NumberText(std::clamp(1.0, argument.minimum, argument.maximum));
}

TermText NewTerm(const TermType& term) {
  TermText made{&term, {}};
  for (const Parameter& argument : term.arguments) {
    const std::string by_default = ParameterText(argument.default_value);
    made.values.push_back(by_default.empty() && argument.required ? StartingValue(term, argument)
                                                                  : by_default);
  }
  if (Reads({made})) return made;
  // One of several arguments is required; takes the one in the example.
  TermText shown = made;
  SetValues(ParseTerms(term.small_example, TermTypes()).front(), shown);
  return Reads({shown}) ? shown : made;
}

TermGroup GroupOf(const TermType& term) {
  if (term.name == "channel") return TermGroup::kChannels;
  return term.stage == TermStage::kPositions ? TermGroup::kPositions : TermGroup::kEdits;
}

Intervention WithTerm(const Intervention& setting, const std::string& term) {
  const std::vector<TermText> added = SplitTerms(ParseIntervention(term));
  const auto is_scheme = [](const TermText& text) {
    return GroupOf(*text.term) == TermGroup::kPositions;
  };
  // `none` counts as a scheme, because it means that there is none.
  const bool scheme = added.empty() || std::any_of(added.begin(), added.end(), is_scheme);
  std::vector<TermText> next = SplitTerms(setting);
  std::erase_if(next, [&](const TermText& old) {
    if (scheme && is_scheme(old)) return true;
    return std::any_of(added.begin(), added.end(),
                       [&old](const TermText& text) { return text.term == old.term; });
  });
  next.insert(next.end(), added.begin(), added.end());
  return ParseIntervention(StackLine(next));
}

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
