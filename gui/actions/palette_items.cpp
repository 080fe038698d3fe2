// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/actions/palette_items.h"

#include <QAction>
#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "gui/base/display_text.h"

namespace midscope {
namespace {

constexpr int kWholeText = 1000;
constexpr int kBeginning = 500;
constexpr int kWordBegins = 12;  // score of a letter at the begin of a word
constexpr int kFollows = 6;      // score of a letter directly after the previous match
constexpr int kArgumentFits = 2000;
constexpr int kRecent = 20;

QString PlainTitle(const ActionEntry& entry) {
  QString title = entry.title;
  title.remove(QLatin1Char('&'));
  if (title.endsWith(QChar(0x2026))) title.chop(1);
  return title;
}

PaletteItem ItemOf(const ActionRegistry::Item& item) {
  const bool missing = item.entry.argument && item.entry.argument->required;
  return {missing ? item.entry.id + QLatin1Char(' ') : item.entry.id, PlainTitle(item.entry),
          item.entry.help, item.action->shortcut().toString(QKeySequence::NativeText), !missing};
}

PaletteItem WithArgument(const ActionRegistry::Item& item, const QString& argument) {
  return {item.entry.id + QLatin1Char(' ') + argument,
          PlainTitle(item.entry) + QStringLiteral(": ") + argument, item.entry.help, QString(),
          true};
}

// The action for a text that can only be a head.
std::optional<QString> Obvious(const QString& text) {
  try {
    const HeadId head = ReadHeadId(text);
    return QStringLiteral("head ") + HeadText(head);
  } catch (const Error&) {
    return std::nullopt;
  }
}

QStringList OffersOf(const ActionEntry& entry) {
  if (entry.offers) return entry.offers();
  QStringList choices;
  for (const std::string& choice : entry.argument->choices)
    choices << QString::fromStdString(choice);
  return choices;
}

bool BeginsWord(const QString& text, qsizetype at) {
  return at == 0 || !text[at - 1].isLetterOrNumber();
}

// The score of a match of `wanted` as letters in order; -1 if there is none.
int InOrder(const QString& wanted, const QString& given, bool prefer_words) {
  int score = 0;
  qsizetype at = 0;
  qsizetype last = -2;
  for (const QChar letter : wanted) {
    if (letter.isSpace()) continue;
    qsizetype found = given.indexOf(letter, at);
    if (found < 0) return -1;
    for (qsizetype i = found; prefer_words && found != last + 1 && i >= 0;
         i = given.indexOf(letter, i + 1)) {
      if (!BeginsWord(given, i)) continue;
      found = i;
      break;
    }
    if (BeginsWord(given, found)) score += kWordBegins;
    if (found == last + 1) score += kFollows;
    last = found;
    at = found + 1;
  }
  return score;
}

class Collector {
 public:
  Collector(const ActionRegistry& registry, QString text, QStringList recent)
      : registry_(registry), text_(std::move(text)), recent_(std::move(recent)) {}

  std::vector<PaletteItem> Collect() {
    if (const auto line = Obvious(text_)) {
      if (const auto* item = registry_.Find(line->section(QLatin1Char(' '), 0, 0)))
        Add(kArgumentFits, WithArgument(*item, line->section(QLatin1Char(' '), 1)));
    }
    for (const ActionRegistry::Item& item : registry_.items()) {
      if (item.action->isEnabled()) Consider(item);
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<PaletteItem> items;
    for (const auto& found : found_) {
      const PaletteItem& item = found.second;
      const bool listed =
          std::any_of(items.begin(), items.end(),
                      [&item](const PaletteItem& known) { return known.line == item.line; });
      if (!listed) items.push_back(item);
    }
    return items;
  }

 private:
  void Add(int score, PaletteItem item) {
    const auto recent = recent_.indexOf(item.line.trimmed());
    if (recent >= 0) score += kRecent - static_cast<int>(std::min<qsizetype>(recent, kRecent - 1));
    found_.emplace_back(score, std::move(item));
  }

  void Consider(const ActionRegistry::Item& item) {
    const ActionEntry& entry = item.entry;
    const QString typed_id = text_.section(QLatin1Char(' '), 0, 0);
    const QString argument = text_.mid(typed_id.size()).trimmed();
    if (entry.argument && typed_id == entry.id && !argument.isEmpty())
      Add(kArgumentFits, WithArgument(item, argument));
    const int by_title = std::max(MatchScore(text_, PlainTitle(entry)),
                                  text_.isEmpty() ? -1 : MatchScore(text_, entry.id));
    if (by_title >= 0) Add(by_title, ItemOf(item));
    if (!entry.argument || text_.isEmpty()) return;
    for (const QString& offer : OffersOf(entry)) {
      const PaletteItem offered = WithArgument(item, offer);
      const int score = std::max(MatchScore(text_, offered.title), MatchScore(text_, offered.line));
      if (score >= 0) Add(score, offered);
    }
  }

  const ActionRegistry& registry_;
  QString text_;
  QStringList recent_;
  std::vector<std::pair<int, PaletteItem>> found_;
};

}  // namespace

int MatchScore(const QString& text, const QString& title) {
  if (text.isEmpty()) return 0;
  const QString wanted = text.toLower();
  const QString given = title.toLower();
  if (wanted == given) return kWholeText;
  const int bonus = given.startsWith(wanted) ? kBeginning : 0;
  // Prefers matches at the begin of words; if the remaining letters then do not match, tries the
  // first occurrences.
  for (const bool prefer_words : {true, false}) {
    const int score = InOrder(wanted, given, prefer_words);
    if (score >= 0) return score + bonus;
  }
  return -1;
}

std::vector<PaletteItem> PaletteItems(const ActionRegistry& registry, const QString& text,
                                      const QStringList& recent) {
  return Collector(registry, text.trimmed(), recent).Collect();
}

}  // namespace midscope
