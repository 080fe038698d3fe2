// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/actions/command_palette.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/base/display_text.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {
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
