// SPDX-License-Identifier: GPL-3.0-or-later
// HeadMapPlot: changing numbers with wheel, drag and keys.
#include <QKeyEvent>
#include <QMap>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/base/display_text.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_style.h"

namespace midscope {

namespace {

// One notch of the wheel, or one press of + or -, changes a number by 5 %; a drag of 100 pixels by
// 50 %.
constexpr double kStep = 0.04879016416943205;       // ln 1.05
constexpr double kPerPixel = 0.004054651081081644;  // ln 1.5 / 100
constexpr double kColourStep = 0.9;                 // factor of the colour range per notch upwards
// Pixels that the pointer must move, else a press is a click.
constexpr double kDragSlack = 4;

}  // namespace

void HeadMapPlot::SetPaintable(bool paintable) {
  if (paintable == paintable_) return;
  paintable_ = paintable;
  EndWheel();
  painting_.clear();
  setCursor(paintable ? Qt::SizeVerCursor : Qt::ArrowCursor);
  if (!paintable) MarkBlock(std::nullopt);
}

void HeadMapPlot::MarkBlock(std::optional<std::pair<HeadId, HeadId>> corners) {
  block_ = corners;
  block_frame_->setVisible(block_.has_value());
  if (block_) {
    const auto [left, right] = std::minmax(block_->first.head, block_->second.head);
    const auto [low, high] = std::minmax(block_->first.layer, block_->second.layer);
    block_frame_->topLeft->setCoords(static_cast<double>(left) - 0.5,
                                     static_cast<double>(high) + 0.5);
    block_frame_->bottomRight->setCoords(static_cast<double>(right) + 0.5,
                                         static_cast<double>(low) - 0.5);
  }
  QueueReplot();
}

std::vector<HeadId> HeadMapPlot::HeadsAt(HeadId head) const {
  if (!block_) return {head};
  const auto [left, right] = std::minmax(block_->first.head, block_->second.head);
  const auto [low, high] = std::minmax(block_->first.layer, block_->second.layer);
  if (head.head < left || head.head > right || head.layer < low || head.layer > high) return {head};
  std::vector<HeadId> heads;
  for (int64_t layer = low; layer <= high; ++layer) {
    for (int64_t each = left; each <= right; ++each) heads.push_back({layer, each});
  }
  return heads;
}

std::vector<HeadId> HeadMapPlot::painted_heads() const {
  return HeadsAt(block_ ? block_->first : NearestHead(selected_, layers(), heads()));
}

void HeadMapPlot::Brush(const QPointF& from, const QPointF& to) {
  const std::optional<HeadId> first = HeadAt(from);
  const std::optional<HeadId> last = HeadAt(to);
  if (paintable_ && first && last) MarkBlock(std::pair(*first, *last));
}

void HeadMapPlot::mousePressEvent(QMouseEvent* event) {
  const std::optional<HeadId> head = HeadAt(event->position());
  const bool paints = paintable_ && head && event->button() == Qt::LeftButton &&
                      event->modifiers() == Qt::NoModifier;
  if (!paints) return Plot::mousePressEvent(event);
  EndWheel();
  painting_ = HeadsAt(*head);
  paint_begin_ = event->position();
  paint_moved_ = false;
}

void HeadMapPlot::mouseMoveEvent(QMouseEvent* event) {
  if (painting_.empty() || !(event->buttons() & Qt::LeftButton)) return Plot::mouseMoveEvent(event);
  const double up = paint_begin_.y() - event->position().y();
  if (!paint_moved_ && std::abs(up) < kDragSlack) return;
  paint_moved_ = true;
  Q_EMIT Painted(painting_, up * kPerPixel, true);
}

void HeadMapPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (painting_.empty() || event->button() != Qt::LeftButton) return Plot::mouseReleaseEvent(event);
  const std::vector<HeadId> painted = std::exchange(painting_, {});
  if (paint_moved_) {
    const double up = paint_begin_.y() - event->position().y();
    Q_EMIT Painted(painted, up * kPerPixel, false);
    return;
  }
  const std::optional<HeadId> head = HeadAt(event->position());
  if (!head) return;
  if (HeadsAt(*head).size() < 2) MarkBlock(std::nullopt);
  SelectHead(*head);
  Q_EMIT HeadChosen(selected_);
}

bool HeadMapPlot::OnScale(const QPointF& position) const {
  return layers() > 0 && scale_rect().contains(position.toPoint());
}

// Scales the range around the centre of diverging colours; for other colours it moves the upper
// end, with Alt the lower end.
void HeadMapPlot::TurnColours(const QWheelEvent& event) {
  // Qt reports Alt+wheel as horizontal scrolling.
  const QPoint angle = event.angleDelta();
  const double factor = std::pow(kColourStep, (angle.y() != 0 ? angle.y() : angle.x()) / 120.0);
  QCPRange range = data_range();
  if (drawn_.diverging) {
    range.lower = drawn_.centre - (drawn_.centre - range.lower) * factor;
    range.upper = drawn_.centre + (range.upper - drawn_.centre) * factor;
  } else if (event.modifiers() & Qt::AltModifier) {
    range.lower = range.upper - range.size() * factor;
  } else {
    range.upper = range.lower + range.size() * factor;
  }
  if (QCPRange::validRange(range)) Q_EMIT ColoursChosen(range);
}

void HeadMapPlot::mouseDoubleClickEvent(QMouseEvent* event) {
  if (!OnScale(event->position())) return Plot::mouseDoubleClickEvent(event);
  Q_EMIT ColoursChosen(std::nullopt);
}

void HeadMapPlot::wheelEvent(QWheelEvent* event) {
  if (OnScale(event->position())) {
    TurnColours(*event);
    event->accept();
    return;
  }
  const std::optional<HeadId> head = HeadAt(event->position());
  if (!paintable_ || !head || event->modifiers() & Qt::ControlModifier)
    return Plot::wheelEvent(event);
  const std::vector<HeadId> heads = HeadsAt(*head);
  if (heads != painting_) EndWheel();
  painting_ = heads;
  wheel_change_ += kStep * event->angleDelta().y() / 120.0;
  wheel_ends_.start();
  Q_EMIT Painted(painting_, wheel_change_, true);
  event->accept();
}

void HeadMapPlot::EndWheel() {
  wheel_ends_.stop();
  const double change = std::exchange(wheel_change_, 0);
  if (change == 0) return;
  Q_EMIT Painted(std::exchange(painting_, {}), change, false);
}

bool HeadMapPlot::PaintKey(QKeyEvent* event) {
  if (layers() == 0) return false;
  const bool more = event->key() == Qt::Key_Plus || event->key() == Qt::Key_Equal;
  if (more || event->key() == Qt::Key_Minus) {
    Q_EMIT Painted(painted_heads(), more ? kStep : -kStep, false);
    return true;
  }
  if (event->key() == Qt::Key_Escape && block_) {
    MarkBlock(std::nullopt);
    return true;
  }
  if (!(event->modifiers() & Qt::ShiftModifier)) return false;
  const HeadId from = NearestHead(selected_, layers(), heads());
  HeadId end = block_ ? block_->second : from;
  if (event->key() == Qt::Key_Left) --end.head;
  if (event->key() == Qt::Key_Right) ++end.head;
  if (event->key() == Qt::Key_Up) ++end.layer;
  if (event->key() == Qt::Key_Down) --end.layer;
  if (end == (block_ ? block_->second : from)) return false;
  MarkBlock(std::pair(block_ ? block_->first : from, NearestHead(end, layers(), heads())));
  return true;
}

// HeadMapPlot: the colour scale.

namespace {

// A gradient that is blue above and red below `centre`, which need not be in the middle of the
// range.
QCPColorGradient GradientAbout(double centre, const QCPRange& range) {
  QCPColorGradient gradient = DifferenceGradient();
  const double middle = (centre - range.lower) / range.size();
  if (!(middle > 0 && middle < 1)) return gradient;
  const QMap<double, QColor> even = gradient.colorStops();
  QMap<double, QColor> stops;
  for (auto stop = even.begin(); stop != even.end(); ++stop) {
    const double from_middle = 2 * stop.key() - 1;  // -1 to 1
    stops[middle + from_middle * (from_middle < 0 ? middle : 1 - middle)] = stop.value();
  }
  gradient.setColorStops(stops);
  return gradient;
}

}  // namespace

// Visible on Viridis and on the near-white colours of differences.
QPen HeadMapPlot::GroupPen() const {
  return {drawn_.diverging ? QColor(90, 90, 90, 130) : QColor(255, 255, 255, 150), 1};
}

QString HeadMapPlot::scale_label() const {
  const QCPRange range = map_->dataRange();
  const auto& values = drawn_.table.values;
  const auto above = std::count_if(values.begin(), values.end(),
                                   [&](double value) { return value > range.upper; });
  const auto below = std::count_if(values.begin(), values.end(),
                                   [&](double value) { return value < range.lower; });
  QString label = drawn_.scale;
  if (above > 0) label += tr("  ▲ %1 beyond").arg(above);
  if (below > 0) label += tr("  ▼ %1 below").arg(below);
  return label;
}

void HeadMapPlot::ShowScaleLabel(bool shown) {
  if (shown == scale_label_shown_) return;
  scale_label_shown_ = shown;
  SetScale();
  QueueReplot();
}

void HeadMapPlot::ShowScale(bool shown) {
  if (scale_->visible() == shown) return;
  scale_->setVisible(shown);
  if (shown) {
    plotLayout()->addElement(1, 1, scale_);
  } else {
    plotLayout()->take(scale_);
    plotLayout()->simplify();
  }
  QueueReplot();
}

std::optional<QCPRange> HeadMapPlot::RangeOf(const std::vector<const HeadTable*>& tables,
                                             bool diverging, double centre) {
  std::optional<QCPRange> range;
  for (const HeadTable* table : tables) {
    for (const double value : table->values) {
      if (!std::isfinite(value)) continue;
      if (!range) range = QCPRange(value, value);
      range->expand(value);
    }
  }
  if (!range) return range;
  if (diverging) {
    const double extent =
        std::max({std::abs(range->lower - centre), std::abs(range->upper - centre), 1e-6});
    return QCPRange(centre - extent, centre + extent);
  }
  range->lower = std::min(range->lower, 0.0);
  if (range->size() <= 0) range->upper = range->lower + 1;
  return range;
}

void HeadMapPlot::SetScale() {
  const std::optional<QCPRange> own =
      drawn_.range ? drawn_.range : RangeOf({&drawn_.table}, drawn_.diverging, drawn_.centre);
  const QCPRange range = own.value_or(QCPRange(0, 1));
  map_->setGradient(drawn_.diverging ? GradientAbout(drawn_.centre, range) : ViridisGradient());
  map_->setDataRange(range);
  scale_->setLabel(scale_label_shown_ ? scale_label() : QString());
  SetPictureLabel(scale_->axis(), scale_label());
  for (QCPItemLine* line : group_lines_) line->setPen(GroupPen());
}

}  // namespace midscope
