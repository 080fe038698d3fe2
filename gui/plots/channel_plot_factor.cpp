// SPDX-License-Identifier: GPL-3.0-or-later
// ChannelPlot: the factor of B, as the line that attention reads, which is dragged.
#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/plots/channel_plot.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

constexpr double kLineReach = 7;        // pixels from the line that count as on it
constexpr double kFactorSlack = 4;      // pixels below which a press is a click
constexpr double kFactorKeyStep = 0.1;  // of + and -
constexpr double kFactorSteps = 100;  // a factor is a whole number of hundredths, as on the slider
constexpr double kLeastSlope = 0.2;   // of the largest value: at zeros a line can't be dragged

double RoundedFactor(double factor) { return std::round(factor * kFactorSteps) / kFactorSteps; }

double LargestOf(const QCPGraph* line) {
  double largest = 0;
  for (const QCPGraphData& point : *line->data()) {
    if (!std::isnan(point.value)) largest = std::max(largest, std::abs(point.value));
  }
  return largest;
}

}  // namespace

const QCPGraph* ChannelPlot::BoldLine(Side side) const {
  if (difference_) return nullptr;
  if (view_.layer < 0) return mean_of(side);
  // Of one layer: A's line, then B's.
  const QString start = side == Side::kA ? tr("A") : tr("B");
  for (const QCPGraph* line : layer_lines_) {
    if (line->name().startsWith(start)) return line;
  }
  return nullptr;
}

void ChannelPlot::AddRead() {
  const QCPGraph* line = FactorLine();
  const bool shown = view_.compare != Compare::kA && view_.factor_now.value_or(1) != 1;
  if (!line || !shown) return;
  QVector<QCPGraphData> points(line->data()->constBegin(), line->data()->constEnd());
  for (QCPGraphData& point : points) point.value *= *view_.factor_now;
  QCPGraph* read = addGraph();
  read->setName(tr("as attention of B reads it, × %1").arg(*view_.factor_now, 0, 'g', 3));
  read->setPen(LinePen(SideColor(Side::kB), 2, Qt::DotLine));
  read->data()->set(points, true);
  read_ = read;
  ShowRead();
}

// A factor below 0 puts the line where no other one is. While it is dragged the frame stays.
void ChannelPlot::ShowRead() {
  bool any = false;
  const QCPRange values = read_->getValueRange(any);
  const QCPRange shown = yAxis->range();
  if (any && !dragging() && !(shown.contains(values.lower) && shown.contains(values.upper)))
    FitView();
}

const QCPGraph* ChannelPlot::FactorLine() const {
  if (read_) return read_;
  const QCPGraph* b = BoldLine(Side::kB);
  return b ? b : BoldLine(Side::kA);
}

std::optional<ChannelPlot::FactorDrag> ChannelPlot::DragAt(const QPointF& position) const {
  const QCPGraph* line = FactorLine();
  if (!view_.factor_now || !line || !axisRect()->rect().contains(position.toPoint()))
    return std::nullopt;
  const double key = std::round(xAxis->pixelToCoord(position.x()));
  const QCPGraphData* at = PointAt(line, key);
  if (!at || std::abs(yAxis->coordToPixel(at->value) - position.y()) > kLineReach) {
    return std::nullopt;
  }
  // Half the frame, where nothing says what a factor of 1 is.
  double slope = yAxis->range().size() / 2;
  const QCPGraph* of_b = BoldLine(Side::kB);
  if (const QCPGraph* unscaled = of_b ? of_b : BoldLine(Side::kA)) {
    const QCPGraphData* there = PointAt(unscaled, key);
    const double least = kLeastSlope * LargestOf(unscaled);
    if (there && !std::isnan(there->value) && least > 0) {
      slope = std::copysign(std::max(std::abs(there->value), least), there->value);
    }
  }
  return FactorDrag{*view_.factor_now, yAxis->pixelToCoord(position.y()), slope};
}

double ChannelPlot::FactorAt(const FactorDrag& drag, const QPointF& position) const {
  const double moved = yAxis->pixelToCoord(position.y()) - drag.value;
  return RoundedFactor(drag.factor + moved / drag.slope);
}

void ChannelPlot::mousePressEvent(QMouseEvent* event) {
  const bool plain =
      event->button() == Qt::LeftButton && event->modifiers() == Qt::KeyboardModifiers();
  drag_ = plain ? DragAt(event->position()) : std::nullopt;
  press_ = event->position();
  if (!drag_) Plot::mousePressEvent(event);
}

void ChannelPlot::mouseMoveEvent(QMouseEvent* event) {
  if (!drag_ || !(event->buttons() & Qt::LeftButton)) {
    setCursor(DragAt(event->position()) ? Qt::SizeVerCursor : Qt::ArrowCursor);
    return Plot::mouseMoveEvent(event);
  }
  if (!drag_->moved && std::abs(press_.y() - event->position().y()) < kFactorSlack) return;
  drag_->moved = true;
  Q_EMIT FactorDragged(FactorAt(*drag_, event->position()), true);
}

void ChannelPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (!drag_ || event->button() != Qt::LeftButton) return Plot::mouseReleaseEvent(event);
  const FactorDrag drag = *std::exchange(drag_, std::nullopt);
  if (drag.moved) {
    Q_EMIT FactorDragged(FactorAt(drag, event->position()), false);
  } else {
    ClickAt(event->position());
  }
}

void ChannelPlot::keyPressEvent(QKeyEvent* event) {
  const bool more = event->key() == Qt::Key_Plus || event->key() == Qt::Key_Equal;
  if (!view_.factor_now || (!more && event->key() != Qt::Key_Minus))
    return Plot::keyPressEvent(event);
  Q_EMIT FactorDragged(RoundedFactor(*view_.factor_now + (more ? kFactorKeyStep : -kFactorKeyStep)),
                       false);
}

}  // namespace midscope
