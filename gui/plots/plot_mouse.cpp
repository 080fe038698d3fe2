// SPDX-License-Identifier: GPL-3.0-or-later
// Plot: mouse, keys and focus.
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <cmath>

#include "gui/plots/plot.h"

namespace midscope {
namespace {

constexpr double kClickSlack = 3;  // pixels
constexpr double kKeyZoom = 0.8;   // factor of the range per press of +
constexpr double kKeyPan = 0.1;    // share of the visible range, per key press
constexpr double kFocusWidth = 2;

}  // namespace

// Short enough for the status bar of a window of 1280 pixels.
QString Plot::MouseHint() {
  return tr("Drag: pan · wheel: zoom · double click: show everything · F1: more");
}

QString Plot::MouseHelp() {
  return tr(
      "Drag: pan · wheel: zoom (Shift: x only, Alt: y only) · Ctrl+drag: zoom into a box · "
      "double click: show everything · in plots over tokens: click locks a token, Shift+drag "
      "selects "
      "tokens, Esc releases · Tab: next plot, arrows: pan, + and −: zoom, Home: everything");
}

void Plot::NoteView(const QCPRange& x, const QCPRange& y) {
  if (y != yAxis->range()) held_ |= Qt::Vertical;
  if (x == xAxis->range()) return;
  held_ |= Qt::Horizontal;
  Q_EMIT ViewedAlongX(xAxis->range().lower, xAxis->range().upper);
}

void Plot::mousePressEvent(QMouseEvent* event) {
  press_position_ = event->position();
  brushing_ =
      brushes_ && event->button() == Qt::LeftButton && event->modifiers() == Qt::ShiftModifier;
  if (brushing_) return;
  setSelectionRectMode(event->modifiers() & Qt::ControlModifier ? QCP::srmZoom : QCP::srmNone);
  QCustomPlot::mousePressEvent(event);
}

void Plot::mouseMoveEvent(QMouseEvent* event) {
  if (brushing_) {
    Brush(press_position_, event->position());
    return;
  }
  const QCPRange x = xAxis->range();
  const QCPRange y = yAxis->range();
  QCustomPlot::mouseMoveEvent(event);
  NoteView(x, y);
  if (event->buttons() != Qt::NoButton) return;
  QString tip = TooltipAt(event->position());
  if (tip.isEmpty()) tip = LabelTip(event->position());
  if (tip.isEmpty()) {
    QToolTip::hideText();
  } else {
    QToolTip::showText(event->globalPosition().toPoint(), tip, this);
  }
  HoverAt(event->position());
}

void Plot::mouseReleaseEvent(QMouseEvent* event) {
  const bool moved = (event->position() - press_position_).manhattanLength() > kClickSlack;
  if (brushing_) {
    brushing_ = false;
    Brush(press_position_, event->position());
    return;
  }
  const QCPRange x = xAxis->range();
  const QCPRange y = yAxis->range();
  QCustomPlot::mouseReleaseEvent(event);
  NoteView(x, y);
  click_modifiers_ = event->modifiers();
  if (event->button() == Qt::LeftButton && !moved) ClickAt(event->position());
}

void Plot::mouseDoubleClickEvent(QMouseEvent* event) {
  QCustomPlot::mouseDoubleClickEvent(event);
  ShowAll();
}

void Plot::wheelEvent(QWheelEvent* event) {
  // Qt reports Alt+wheel as horizontal scrolling, which QCustomPlot ignores.
  const QPoint angle = event->angleDelta();
  const int delta = angle.y() != 0 ? angle.y() : angle.x();
  if (delta == 0 || !axisRect()->rect().contains(event->position().toPoint())) {
    event->ignore();
    return;
  }
  const double factor = std::pow(axisRect()->rangeZoomFactor(Qt::Horizontal), delta / 120.0);
  const QCPRange x_before = xAxis->range();
  const QCPRange y_before = yAxis->range();
  const bool x = !(event->modifiers() & Qt::AltModifier);
  const bool y = !(event->modifiers() & Qt::ShiftModifier);
  if (x && axisRect()->rangeZoom().testFlag(Qt::Horizontal)) {
    xAxis->scaleRange(factor, xAxis->pixelToCoord(event->position().x()));
  }
  if (y && axisRect()->rangeZoom().testFlag(Qt::Vertical)) {
    yAxis->scaleRange(factor, yAxis->pixelToCoord(event->position().y()));
  }
  NoteView(x_before, y_before);
  QueueReplot();
  event->accept();
}

void Plot::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && selectionRect()->isActive()) {
    selectionRect()->cancel();
    QueueReplot();
    return;
  }
  if (event->key() == Qt::Key_Escape) Q_EMIT ReleaseRequested();
  if (SteerByKey(*event)) return event->accept();
  QCustomPlot::keyPressEvent(event);
}

// Handles keys that change the view. Returns whether the key was such a key.
bool Plot::SteerByKey(const QKeyEvent& event) {
  const bool plain = !(event.modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier));
  if (!plain || !xAxis || axisRectCount() == 0) return false;
  if (event.key() == Qt::Key_Home) {
    ShowAll();
    return true;
  }
  const QCPRange x = xAxis->range();
  const QCPRange y = yAxis->range();
  const Qt::Orientations zooms = axisRect()->rangeZoom();
  const Qt::Orientations drags = axisRect()->rangeDrag();
  const bool more = event.key() == Qt::Key_Plus || event.key() == Qt::Key_Equal;
  if (more || event.key() == Qt::Key_Minus) {
    const double factor = more ? kKeyZoom : 1 / kKeyZoom;
    if (zooms.testFlag(Qt::Horizontal)) xAxis->scaleRange(factor, x.center());
    const bool along_x_only = event.modifiers() & Qt::ShiftModifier && !more;
    if (zooms.testFlag(Qt::Vertical) && !along_x_only) yAxis->scaleRange(factor, y.center());
  } else if (event.key() == Qt::Key_Left || event.key() == Qt::Key_Right) {
    const double step = event.key() == Qt::Key_Left ? -kKeyPan : kKeyPan;
    if (drags.testFlag(Qt::Horizontal)) xAxis->moveRange(step * x.size());
  } else if (event.key() == Qt::Key_Up || event.key() == Qt::Key_Down) {
    const double step = event.key() == Qt::Key_Down ? -kKeyPan : kKeyPan;
    if (drags.testFlag(Qt::Vertical)) yAxis->moveRange(step * y.size());
  } else {
    return false;
  }
  NoteView(x, y);
  QueueReplot();
  return true;
}

// Paints the focus frame over the picture, so that it needs no replot and is not in exported files.
void Plot::paintEvent(QPaintEvent* event) {
  QCustomPlot::paintEvent(event);
  if (!hasFocus()) return;
  QPainter painter(this);
  painter.setPen(QPen(palette().color(QPalette::Highlight), kFocusWidth));
  painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -1));
}

void Plot::focusInEvent(QFocusEvent* event) {
  QCustomPlot::focusInEvent(event);
  update();
}

void Plot::focusOutEvent(QFocusEvent* event) {
  QCustomPlot::focusOutEvent(event);
  update();
}

void Plot::ShowAll() {
  held_ = {};
  ResetView();
  QueueReplot();
  Q_EMIT ViewedAll();
}

void Plot::leaveEvent(QEvent* event) {
  QCustomPlot::leaveEvent(event);
  HoverEnds();
}

}  // namespace midscope
