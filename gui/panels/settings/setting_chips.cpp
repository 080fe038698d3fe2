// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/settings/setting_chips.h"

#include <QColor>
#include <QEvent>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QKeyEvent>
#include <QMenu>
#include <QToolButton>
#include <algorithm>

#include "core/terms/intervention_text.h"
#include "gui/base/display_text.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/session.h"
#include "gui/session/setting_marks.h"
#include "gui/session/tried_settings.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {

SettingChips::SettingChips(Session* session, TriedSettings* tried, QWidget* parent)
    : QWidget(parent), session_(session), tried_(tried) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(1);
  for (int letter = 0; letter < SettingMarks::kLetters; ++letter) {
    auto* chip = Named(new QToolButton(this),
                       QStringLiteral("chip_") + SettingMarks::Letter(letter).toLower());
    chip->setCheckable(true);
    chip->setFocusPolicy(Qt::StrongFocus);
    chip->setContextMenuPolicy(Qt::CustomContextMenu);
    chip->installEventFilter(this);
    const QColor color = OutcomePlot::SettingColor(static_cast<size_t>(letter));
    chip->setStyleSheet(
        QStringLiteral("QToolButton { border: 1px solid %1; border-radius: 3px; padding: 1px 4px; }"
                       "QToolButton:checked { background: %1; color: white; font-weight: bold; }"
                       "QToolButton:focus { border: 2px solid palette(highlight); }")
            .arg(color.name()));
    connect(chip, &QToolButton::clicked, this, [this, letter](bool drawn) {
      session_->marks()->SetDrawn(letter, drawn);
      Refresh();
    });
    connect(chip, &QWidget::customContextMenuRequested, this, [this, letter] { OpenMenu(letter); });
    row->addWidget(chip);
    chips_.push_back(chip);
  }
  connect(session_->marks(), &SettingMarks::Changed, this, &SettingChips::Refresh);
  connect(tried_, &TriedSettings::Changed, this, &SettingChips::Refresh);
  Refresh();
}

QString SettingChips::SettingAt(int letter) const {
  if (letter == 1 && !session_->differs()) return {};
  if (letter < 2) {
    const Side side = letter == 0 ? Side::kA : Side::kB;
    return QString::fromStdString(PrintIntervention(session_->setting(side)));
  }
  return session_->shows_file() ? QString() : QString::fromStdString(tried_->TextOf(letter - 2));
}

void SettingChips::Refresh() {
  SettingMarks* marks = session_->marks();
  constexpr int kLongestName = 16;
  for (int letter = 0; letter < SettingMarks::kLetters; ++letter) {
    QToolButton* chip = chips_[static_cast<size_t>(letter)];
    const QString setting = SettingAt(letter);
    chip->setVisible(!setting.isEmpty());
    if (setting.isEmpty()) continue;
    const QString name = SettingMarks::Letter(letter);
    QString shown = marks->Name(setting);
    if (shown.size() > kLongestName) shown = shown.left(kLongestName - 1) + QChar(0x2026);
    chip->setText(shown.isEmpty() ? name : tr("%1 “%2”").arg(name, shown));
    chip->setChecked(marks->Draws(letter));
    chip->setAccessibleName(tr("Draw setting %1").arg(name));
    chip->setToolTip(tr("<p><b>%1</b>: %2</p><p>Click: draw it or leave it out. Double click: draw "
                        "it alone, or all again. Right click, F2: name it</p>")
                         .arg(marks->WithLetter(name, setting), setting.toHtmlEscaped()));
  }
  updateGeometry();
}

bool SettingChips::eventFilter(QObject* watched, QEvent* event) {
  const auto found = std::find(chips_.begin(), chips_.end(), watched);
  if (found == chips_.end()) return QWidget::eventFilter(watched, event);
  const auto letter = static_cast<int>(found - chips_.begin());
  if (event->type() == QEvent::MouseButtonDblClick) {
    // The first click of a double click has toggled the setting; this restores it.
    session_->marks()->SetDrawn(letter, !session_->marks()->Draws(letter));
    session_->marks()->Solo(letter);
    return true;
  }
  const bool key = event->type() == QEvent::KeyPress;
  if (key && static_cast<QKeyEvent*>(event)->key() == Qt::Key_F2) {
    AskName(letter);
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

void SettingChips::AskName(int letter) {
  const QString setting = SettingAt(letter);
  bool given = false;
  const QString name =
      QInputDialog::getText(this, tr("Name of %1").arg(SettingMarks::Letter(letter)),
                            tr("A name for %1").arg(WithoutFolders(setting)), QLineEdit::Normal,
                            session_->marks()->Name(setting), &given);
  if (given) session_->marks()->SetName(setting, name);
}

void SettingChips::OpenMenu(int letter) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(tr("Name…"), this, [this, letter] { AskName(letter); });
  menu->addAction(tr("Draw alone, or all"), this,
                  [this, letter] { session_->marks()->Solo(letter); });
  menu->popup(QCursor::pos());
}

}  // namespace midscope
