// SPDX-License-Identifier: GPL-3.0-or-later
// Plot: mouse, keys and focus.
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_labels.h"
#include "gui/plots/plot_style.h"

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

// Handles keys that change the view. Returns whether the key was handled.
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

// Plot: texts that are fitted to the size of the plot.

namespace {

constexpr int kTextMargin = 16;
constexpr int kScaleWidth = 90;       // pixels of a colour scale including its numbers
constexpr int kFewestWide = 80;       // smallest width of a message, in pixels
constexpr int kLegendItemFrame = 44;  // pixels of the icon and margins of a legend item

// Returns the longest beginning of the text that fits and ends where a part of it ends: "nats" of
// "nats: −log p(answer)", "B" of "B: channel(100, factor=-1) — score". If none fits, the shortest
// one is elided.
QString ShownPart(const QString& text, const QFontMetrics& metrics, int width) {
  const auto fits = [&](const QString& part) { return metrics.horizontalAdvance(part) <= width; };
  if (fits(text)) return text;
  static const QStringList ends = {QStringLiteral(" — "), QStringLiteral("; "),
                                   QStringLiteral(", "), QStringLiteral(": "),
                                   QStringLiteral(" (")};
  QString shortest = text;
  for (qsizetype at = text.size(); at > 0; --at) {
    QString part = text.left(at);
    // A label before a colon in a later clause says nothing alone: "thin" of "thin: layers".
    const bool clause = part.contains(QStringLiteral("; "));
    const bool end = std::any_of(ends.begin(), ends.end(), [&](const QString& mark) {
      return QStringView(text).sliced(at).startsWith(mark) &&
             !(clause && mark == QStringLiteral(": "));
    });
    if (!end || part.count(QLatin1Char('(')) != part.count(QLatin1Char(')'))) continue;
    if (fits(part)) return part;
    shortest = part;
  }
  return metrics.elidedText(shortest, Qt::ElideRight, std::max(width, 0));
}

// Shows as much of the axis label as fits beside the axis.
void FitLabel(QCPAxis* axis, int length) {
  const QString label = FullLabel(*axis);
  const QString fits = ShownPart(label, QFontMetrics(axis->labelFont()), length);
  if (fits == axis->label()) return;
  axis->setLabel(fits);
  NoteElided(axis, label);
}

}  // namespace

void Plot::FitText() {
  const bool scale = plotLayout()->columnCount() > 1;
  const int width = viewport().width() - kTextMargin;
  const int title_width = width - (scale ? kScaleWidth : 0);
  const QFontMetrics title_metrics(title_->font());
  title_->setText(in_picture() ? Wrapped(full_title_, title_metrics, title_width)
                               : ShownPart(full_title_, title_metrics, title_width));
  if (curve_labels_) curve_labels_->Fit();
  if (most_in_a_row_ >= 0) {
    FitLegend(width);
    ShowLegendIfHigh();
  }
  if (caption_text_) {
    caption_text_->setText(
        Wrapped(PictureCaption(), QFontMetrics(caption_text_->font()), title_width));
  }
  if (older_text_) {
    older_text_->setText(
        Wrapped(older_note_, QFontMetrics(font()), std::max(axisRect()->width(), kFewestWide)));
  }
  if (empty_message_) {
    empty_message_->setText(
        Wrapped(empty_text_, QFontMetrics(font()), std::max(width, kFewestWide)));
  }
}

// Runs after the layout, which does not depend on the length of the labels.
void Plot::FitYAxis() {
  if (!yAxis || axisRectCount() == 0) return;  // a grid of panels has axes of its own
  // On a low plot, more numbers would overlap.
  constexpr int kMostTicks = 5;
  const int height = axisRect()->height();
  const int line = QFontMetrics(yAxis->tickLabelFont()).height();
  const int ticks = std::clamp(height / (2 * line), 2, kMostTicks);
  std::vector<QCPAxis*> axes = {yAxis};
  for (int i = 0; i < plotLayout()->elementCount(); ++i) {
    if (auto* scale = qobject_cast<QCPColorScale*>(plotLayout()->elementAt(i)))
      axes.push_back(scale->axis());
  }
  bool again = false;  // the ticks of this replot are already chosen
  for (QCPAxis* axis : axes) {
    if (ticks != axis->ticker()->tickCount()) {
      axis->ticker()->setTickCount(ticks);
      again = true;
    }
    if (!in_picture()) FitLabel(axis, height);  // in a picture it is broken into lines
  }
  if (!in_picture()) FitLabel(xAxis, axisRect()->width());
  if (again) QueueReplot();
}

QString Plot::LabelTip(const QPointF& position) const {
  if (title_->outerRect().contains(position.toPoint()) && title_->text() != full_title_)
    return full_title_;
  if (!yAxis || axisRectCount() == 0) return {};
  const QRect axes = axisRect()->rect();
  const bool beside =
      position.x() < axes.left() && position.y() > axes.top() && position.y() < axes.bottom();
  const QString label = FullLabel(*yAxis);
  return beside && label != yAxis->label() ? label : QString();
}

// Puts as many names per row as fit.
void Plot::FitLegend(int width) {
  QVector<int> widths;
  for (int i = 0; i < legend->itemCount(); ++i) {
    auto* item = qobject_cast<QCPPlottableLegendItem*>(legend->item(i));
    const QString name = item ? item->plottable()->name() : QString();
    widths.append(QFontMetrics(legend->font()).horizontalAdvance(name) + kLegendItemFrame);
  }
  const auto count = static_cast<int>(widths.size());
  int columns = most_in_a_row_ > 0 ? std::min(most_in_a_row_, count) : count;
  const auto needed = [&widths](int in_a_row) {
    QVector<int> widest(in_a_row, 0);
    for (qsizetype i = 0; i < widths.size(); ++i) {
      widest[i % in_a_row] = std::max(widest[i % in_a_row], widths[i]);
    }
    return std::accumulate(widest.begin(), widest.end(), 0);
  };
  while (columns > 1 && needed(columns) > width) --columns;
  if (columns == legend->wrap()) return;
  legend->setWrap(columns);
  legend->setFillOrder(QCPLegend::foColumnsFirst, true);
}

void Plot::ShowLegendIfHigh() {
  const bool placed = legend->layout() != nullptr;
  if (curve_labels_ && !placed) return;  // labels at the lines instead
  constexpr int kLeastLines = 3;         // height of the smallest plotting area, in lines of text
  constexpr int kOtherLines = 4;         // title, label and numbers of the x axis, margins
  const int rows =
      legend->wrap() > 0 ? (legend->itemCount() + legend->wrap() - 1) / legend->wrap() : 1;
  const int line = QFontMetrics(font()).lineSpacing();
  const bool high = in_picture() || legend->itemCount() == 0 ||
                    viewport().height() >= (rows + kOtherLines + kLeastLines) * line;
  if (high == placed) return;
  legend->setVisible(high);
  if (high) {
    plotLayout()->addElement(1, 0, legend);
  } else {
    plotLayout()->take(legend);
  }
}

}  // namespace midscope
