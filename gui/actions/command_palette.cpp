// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/actions/command_palette.h"

#include <QAction>
#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "gui/base/display_text.h"
#include "gui/widgets/flow_layout.h"

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

namespace {

constexpr int kPaletteWidth = 560;
constexpr int kPaletteHeight = 380;
constexpr qsizetype kMostRecent = 20;

// The title at the left and the shortcut at the right.
QString RowText(const PaletteItem& item) {
  return item.shortcut.isEmpty() ? item.title : item.title + QStringLiteral("    ") + item.shortcut;
}

}  // namespace

CommandPalette::CommandPalette(ActionRegistry* registry, QWidget* parent)
    : QFrame(parent), registry_(registry) {
  setObjectName(QStringLiteral("command_palette"));
  setAccessibleName(tr("Command palette"));
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  line_ = Named(new QLineEdit(this), "palette_line");
  line_->setPlaceholderText(tr("An action, or L12H3, channel 100, place 5 …"));
  line_->setAccessibleName(tr("Action"));
  list_ = Named(new QListWidget(this), "palette_list");
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setUniformItemSizes(true);
  help_ = Named(new QLabel(this), "palette_help");
  help_->setWordWrap(true);
  auto* column = new QVBoxLayout(this);
  column->addWidget(line_);
  column->addWidget(list_, 1);
  column->addWidget(help_);
  line_->installEventFilter(this);
  connect(line_, &QLineEdit::textChanged, this, &CommandPalette::List);
  connect(list_, &QListWidget::itemClicked, this, &CommandPalette::RunChosen);
  connect(list_, &QListWidget::currentRowChanged, this, [this](int row) {
    const bool any = row >= 0 && static_cast<size_t>(row) < listed_.size();
    help_->setText(any ? listed_[static_cast<size_t>(row)].help : tr("No action fits"));
  });
  connect(registry_, &ActionRegistry::Done, this, &CommandPalette::NoteRecent);
  hide();
}

void CommandPalette::Open(const QString& text) {
  if (!isVisible()) focus_before_ = QApplication::focusWidget();
  const QSize size(std::min(kPaletteWidth, parentWidget()->width() - 20),
                   std::min(kPaletteHeight, parentWidget()->height() - 60));
  setGeometry((parentWidget()->width() - size.width()) / 2, 40, size.width(), size.height());
  line_->setText(text);
  List();
  show();
  raise();
  line_->setFocus();
}

void CommandPalette::Close() {
  hide();
  if (focus_before_) focus_before_->setFocus();
  focus_before_ = nullptr;
}

void CommandPalette::List() {
  listed_ = PaletteItems(*registry_, line_->text(), recent_);
  list_->clear();
  for (const PaletteItem& item : listed_) list_->addItem(RowText(item));
  list_->setCurrentRow(listed_.empty() ? -1 : 0);
  if (listed_.empty()) help_->setText(tr("No action fits"));
}

void CommandPalette::RunChosen() {
  const int row = list_->currentRow();
  if (row < 0 || static_cast<size_t>(row) >= listed_.size()) return;
  const PaletteItem item = listed_[static_cast<size_t>(row)];
  if (!item.complete) {
    line_->setText(item.line);
    help_->setText(item.help);
    return;
  }
  const QString why = ErrorText([this, &item] { registry_->Do(item.line); });
  if (why.isEmpty()) return Close();
  help_->setText(why);
}

void CommandPalette::NoteRecent(const QString& line) {
  if (line.startsWith(QLatin1String("palette"))) return;
  recent_.removeAll(line);
  recent_.prepend(line);
  recent_ = recent_.mid(0, kMostRecent);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::FocusOut && isVisible() &&
      !isAncestorOf(QApplication::focusWidget()))
    hide();
  if (event->type() != QEvent::KeyPress) return QFrame::eventFilter(watched, event);
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Escape:
      Close();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      RunChosen();
      return true;
    case Qt::Key_Down:
    case Qt::Key_Up:
    case Qt::Key_PageDown:
    case Qt::Key_PageUp:
      QApplication::sendEvent(list_, event);
      return true;
    default:
      return QFrame::eventFilter(watched, event);
  }
}

}  // namespace midscope
