// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/layout/dock_title.h"

#include <QDockWidget>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QToolButton>

namespace midscope {

DockTitle::DockTitle(QDockWidget* dock, const QString& help) : QWidget(dock), dock_(dock) {
  text_ = new QLabel(dock->windowTitle(), this);
  QFont font = text_->font();
  font.setPointSizeF(font.pointSizeF() * 0.9);
  text_->setFont(font);
  // A long title does not set the dock's least width.
  text_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  setToolTip(help);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(4, 0, 2, 0);
  row->setSpacing(0);
  row->addWidget(text_, 1);
  if (!help.isEmpty()) {
    QToolButton* what =
        Button(QStringLiteral("?"), QStringLiteral("dock_help"), tr("What is this?"));
    connect(what, &QToolButton::clicked, this, &DockTitle::HelpAsked);
    row->addWidget(what);
  }
  QToolButton* whole = Button(QStringLiteral("□"), QStringLiteral("dock_whole"),
                              tr("Fill the window, or go back (double click on the title)"));
  connect(whole, &QToolButton::clicked, this, &DockTitle::WholeAsked);
  row->addWidget(whole);
  QToolButton* tear = Button(QStringLiteral("↗"), QStringLiteral("dock_float"),
                             tr("A window of its own, or back into this one"));
  connect(tear, &QToolButton::clicked, dock_, [this] { dock_->setFloating(!dock_->isFloating()); });
  row->addWidget(tear);
  QToolButton* close = Button(QStringLiteral("×"), QStringLiteral("dock_close"),
                              tr("Hide the panel; View > Panels shows it again"));
  connect(close, &QToolButton::clicked, dock_, &QDockWidget::close);
  row->addWidget(close);
}

QToolButton* DockTitle::Button(const QString& text, const QString& name, const QString& tooltip) {
  auto* button = new QToolButton(this);
  button->setObjectName(name);
  button->setText(text);
  button->setToolTip(tooltip);
  button->setAccessibleName(dock_->windowTitle() + QStringLiteral(": ") + tooltip);
  button->setAutoRaise(true);
  button->setFocusPolicy(Qt::TabFocus);
  const int side = fontMetrics().height();
  button->setFixedSize(side, side);
  return button;
}

void DockTitle::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return QWidget::mouseDoubleClickEvent(event);
  Q_EMIT WholeAsked();
}

}  // namespace midscope
