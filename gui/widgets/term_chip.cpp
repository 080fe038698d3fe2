// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/term_chip.h"

#include <QApplication>
#include <QCheckBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QSignalBlocker>
#include <QToolButton>

#include "gui/widgets/flow_layout.h"

namespace midscope {
namespace {

constexpr int kNarrowestFace = 60;
constexpr int kFaceMargin = 8;
constexpr int kFaceFrame = 12;  // pixels of the face beside its text

}  // namespace

TermChip::TermChip(size_t index, QWidget* parent) : QFrame(parent) {
  setObjectName(QStringLiteral("card_%1").arg(index));
  setFrameShape(QFrame::StyledPanel);
  switch_ = Named(new QCheckBox(this), QStringLiteral("card_on_%1").arg(index),
                  tr("On: the term is in force. Off: it is kept here and not run"));
  face_ = Named(new QToolButton(this), QStringLiteral("card_face_%1").arg(index));
  face_->setCheckable(true);
  face_->setAutoRaise(true);
  face_->setFocusPolicy(Qt::StrongFocus);
  // In a narrow panel the text is elided, so that it does not widen the panel.
  face_->setMinimumWidth(kNarrowestFace);
  face_->setFixedHeight(fontMetrics().height() + kFaceMargin);
  face_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  face_->installEventFilter(this);
  more_ = Named(new QToolButton(this), QStringLiteral("card_more_%1").arg(index),
                tr("Duplicate, copy into another setting, move, remove"));
  more_->setText(QStringLiteral("⋯"));
  more_->setAutoRaise(true);
  more_->setFocusPolicy(Qt::StrongFocus);
  more_->setPopupMode(QToolButton::InstantPopup);
  more_->setStyleSheet(QStringLiteral("QToolButton::menu-indicator { image: none; }"));
  menu_ = new QMenu(more_);
  menu_->setToolTipsVisible(true);
  more_->setMenu(menu_);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(4, 1, 1, 1);
  row->setSpacing(1);
  row->addWidget(switch_);
  row->addWidget(face_, 1);
  row->addWidget(more_);
  connect(switch_, &QCheckBox::toggled, this, &TermChip::Toggled);
  connect(face_, &QToolButton::toggled, this, &TermChip::OpenChanged);
}

void TermChip::ShowTerm(const QString& text, const QString& full, bool on, const QString& warning) {
  text_ = text;
  warning_ = warning;
  const QSignalBlocker quiet(switch_);
  switch_->setChecked(on);
  switch_->setAccessibleName(tr("%1 in force").arg(text));
  face_->setAccessibleName(on ? text : tr("%1, off").arg(text));
  more_->setAccessibleName(tr("What can be done with %1").arg(text));
  QString tip = full.toHtmlEscaped();
  if (!warning.isEmpty()) tip += QStringLiteral("<br><b>") + warning.toHtmlEscaped() + "</b>";
  tip += QStringLiteral("<br>") +
         tr("Click: its form. Drag, or Alt+← and Alt+→: its place among terms of its kind. Ctrl+D: "
            "duplicate, Del: remove");
  face_->setToolTip(QStringLiteral("<p>") + tip + QStringLiteral("</p>"));
  QFont font = face_->font();
  font.setStrikeOut(!on && !suggested_);
  face_->setFont(font);
  RefreshFace();
}

void TermChip::RefreshFace() {
  const QString shown = warning_.isEmpty() ? text_ : QStringLiteral("⚠ ") + text_;
  const int room = face_->isVisible() ? face_->width() - kFaceFrame : QWIDGETSIZE_MAX;
  face_->setText(QFontMetrics(face_->font()).elidedText(shown, Qt::ElideRight, room));
}

QString TermChip::text() const { return text_; }

void TermChip::SetOpen(bool open) {
  const QSignalBlocker quiet(face_);
  face_->setChecked(open);
}

bool TermChip::open() const { return face_->isChecked(); }

bool TermChip::eventFilter(QObject* watched, QEvent* event) {
  if (watched != face_) return QFrame::eventFilter(watched, event);
  if (event->type() == QEvent::Resize || event->type() == QEvent::Show) RefreshFace();
  return OnMouse(event) || OnKey(event);
}

bool TermChip::OnMouse(QEvent* event) {
  if (event->type() == QEvent::MouseButtonPress) {
    pressed_ = static_cast<QMouseEvent*>(event)->globalPosition().toPoint();
    dragging_ = false;
    return false;
  }
  if (event->type() == QEvent::MouseMove) {
    const auto* move = static_cast<QMouseEvent*>(event);
    const QPoint at = move->globalPosition().toPoint();
    const bool far = (at - pressed_).manhattanLength() >= QApplication::startDragDistance();
    if (!(move->buttons() & Qt::LeftButton) || (!dragging_ && !far)) return false;
    dragging_ = true;
    face_->setCursor(Qt::ClosedHandCursor);
    Q_EMIT Dragged(at);
    return true;
  }
  if (event->type() == QEvent::MouseButtonRelease && dragging_) {
    dragging_ = false;
    face_->unsetCursor();
    face_->setDown(false);
    // If the receiver removes this card, it must queue that.
    Q_EMIT Dropped(static_cast<QMouseEvent*>(event)->globalPosition().toPoint());
    return true;
  }
  return false;
}

bool TermChip::OnKey(QEvent* event) {
  if (event->type() != QEvent::KeyPress) return false;
  const auto* key = static_cast<QKeyEvent*>(event);
  if (key->key() == Qt::Key_Delete) {
    Q_EMIT RemoveRequested();
  } else if (key->key() == Qt::Key_D && key->modifiers() == Qt::ControlModifier) {
    Q_EMIT DuplicateRequested();
  } else if (key->key() == Qt::Key_Left && key->modifiers() == Qt::AltModifier) {
    Q_EMIT MoveRequested(-1);
  } else if (key->key() == Qt::Key_Right && key->modifiers() == Qt::AltModifier) {
    Q_EMIT MoveRequested(1);
  } else {
    return false;
  }
  return true;
}

}  // namespace midscope
