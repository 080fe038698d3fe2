// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/maps/head_map_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gui/base/display_text.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

constexpr int kWheelEnds = 350;  // milliseconds without a wheel event that end a turn

bool SameRange(const std::optional<QCPRange>& left, const std::optional<QCPRange>& right) {
  if (!left || !right) return left.has_value() == right.has_value();
  return *left == *right;
}

}  // namespace

HeadMapPlot::HeadMapPlot(QWidget* parent, const QString& file_stem)
    : Plot(tr("Position-awareness score"), file_stem, parent) {
  const ScaledMap scaled = MakeScaledMap(this);
  map_ = scaled.map;
  scale_ = scaled.scale;
  plotLayout()->addElement(1, 1, scale_);
  xAxis->setLabel(tr("head"));
  yAxis->setLabel(tr("layer"));
  SetPictureLabel(yAxis, yAxis->label());
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->grid()->setVisible(false);
    axis->setSubTicks(false);
    axis->setTicker(QSharedPointer<QCPAxisTickerFixed>::create());
  }
  connect(this, &QCustomPlot::afterLayout, this, &HeadMapPlot::FitLayout);
  axisRect()->setupFullAxesBox();
  xAxis2->setTicks(false);
  yAxis2->setTicks(false);
  marker_below_ = new QCPItemRect(this);
  marker_ = new QCPItemRect(this);
  block_frame_ = new QCPItemRect(this);
  for (QCPItemRect* marker : {marker_below_, marker_, block_frame_}) {
    marker->setVisible(false);
    HideInPictures(marker);
  }
  wheel_ends_.setSingleShot(true);
  wheel_ends_.setInterval(kWheelEnds);
  connect(&wheel_ends_, &QTimer::timeout, this, &HeadMapPlot::EndWheel);
  UseBrush();
  SetScale();
  SetEmptyMessage(tr("No run yet"));
  // Repeats the call of the base class, because the colour scale did not exist at that time.
  ApplyPalette(this, palette());
  RestyleData();
}

void HeadMapPlot::SetHeadsPerKeyValueHead(int64_t heads) {
  heads = std::max<int64_t>(heads, 1);
  if (heads == heads_per_key_value_head_) return;
  heads_per_key_value_head_ = heads;
  DrawGroups();
  QueueReplot();
}

void HeadMapPlot::Show(HeadMap map) {
  if (map.table.layers == 0 || map.table.heads == 0) map.table = {};
  const HeadTable& before = drawn_.table;
  const bool same_shape = map.table.layers == before.layers && map.table.heads == before.heads;
  const bool drawn = before.layers > 0 && same_shape && map.diverging == drawn_.diverging &&
                     map.scale == drawn_.scale && map.centre == drawn_.centre &&
                     SameRange(map.range, drawn_.range) &&
                     std::equal(map.table.values.begin(), map.table.values.end(),
                                before.values.begin(), before.values.end(), SameNumber);
  // Stores the map even if the cells are unchanged, because its notes may differ.
  drawn_ = std::move(map);
  if (!drawn) DrawCells(!same_shape);
}

void HeadMapPlot::DrawCells(bool other_shape) {
  SetCells(map_, static_cast<int>(heads()), static_cast<int>(layers()));
  for (int64_t layer = 0; layer < layers(); ++layer) {
    for (int64_t head = 0; head < heads(); ++head) {
      map_->data()->setCell(static_cast<int>(head), static_cast<int>(layer),
                            drawn_.table.values[static_cast<size_t>(layer * heads() + head)]);
    }
  }
  SetEmptyMessage(layers() > 0 ? QString() : tr("No run yet"));
  SetScale();
  PlaceMarker();
  PlacePins();
  // Between two prompts of a model the map is empty; the view is kept for the model.
  if (other_shape && layers() > 0) {
    DrawGroups();
    FitView();
  } else if (layers() == 0) {
    FitView();
  }
  QueueReplot();
}

void HeadMapPlot::DrawGroups() {
  for (QCPItemLine* line : group_lines_) removeItem(line);
  group_lines_.clear();
  if (heads_per_key_value_head_ < 2) return;
  for (int64_t head = heads_per_key_value_head_; head < heads();
       head += heads_per_key_value_head_) {
    auto* line = new QCPItemLine(this);
    const double x = static_cast<double>(head) - 0.5;
    line->start->setCoords(x, -0.5);
    line->end->setCoords(x, static_cast<double>(layers()) - 0.5);
    line->setPen(GroupPen());
    group_lines_.push_back(line);
  }
}

void HeadMapPlot::SelectHead(HeadId head) {
  selected_ = head;
  PlaceMarker();
  QueueReplot();
}

void HeadMapPlot::PlaceMarker() {
  const HeadId drawn = NearestHead(selected_, layers(), heads());
  const auto x = static_cast<double>(drawn.head);
  const auto y = static_cast<double>(drawn.layer);
  for (QCPItemRect* marker : {marker_below_, marker_}) {
    marker->setVisible(layers() > 0);
    marker->topLeft->setCoords(x - 0.5, y - 0.5);
    marker->bottomRight->setCoords(x + 0.5, y + 0.5);
  }
}

void HeadMapPlot::SetPinned(const std::vector<PinnedHead>& pinned) {
  if (pinned == pinned_) return;
  pinned_ = pinned;
  PlacePins();
  QueueReplot();
}

void HeadMapPlot::PlacePins() {
  for (QCPItemRect* item : pin_items_) removeItem(item);
  pin_items_.clear();
  pin_frames_.clear();
  for (const PinnedHead& pin : pinned_) {
    if (!Has(pin.head)) continue;
    const auto x = static_cast<double>(pin.head.head);
    const auto y = static_cast<double>(pin.head.layer);
    // A white frame below the coloured one keeps it visible on a cell of the same colour.
    for (const QPen& pen : {QPen(Qt::white, 5), QPen(pin.color, 3)}) {
      auto* frame = new QCPItemRect(this);
      frame->topLeft->setCoords(x - 0.5, y + 0.5);
      frame->bottomRight->setCoords(x + 0.5, y - 0.5);
      frame->setPen(pen);
      pin_items_.push_back(frame);
    }
    pin_frames_.push_back(pin_items_.back());
  }
  // Moves the markers above the items that were added.
  for (QCPItemRect* marker : {marker_below_, marker_}) {
    marker->setLayer(QStringLiteral("overlay"));
  }
}

QRectF HeadMapPlot::marked_cell() const {
  if (!marker_->visible()) return {};
  return {marker_->topLeft->coords(), marker_->bottomRight->coords()};
}

QString HeadMapPlot::HeadName(HeadId head) const {
  QString name = HeadText(head);
  if (heads_per_key_value_head_ > 1) {
    name += QStringLiteral(" (KV%1)").arg(head.head / heads_per_key_value_head_);
  }
  return name;
}

bool HeadMapPlot::Has(HeadId head) const {
  return head.layer >= 0 && head.head >= 0 && head.layer < layers() && head.head < heads();
}

double HeadMapPlot::CellValue(HeadId head) const {
  if (!Has(head)) return std::numeric_limits<double>::quiet_NaN();
  return map_->data()->cell(static_cast<int>(head.head), static_cast<int>(head.layer));
}

int64_t HeadMapPlot::Rank(HeadId head) const {
  const double own = CellValue(head);
  if (std::isnan(own)) return 0;
  return 1 + std::count_if(drawn_.table.values.begin(), drawn_.table.values.end(),
                           [own](double value) { return value > own; });
}

std::optional<HeadId> HeadMapPlot::HeadAt(const QPointF& position) const {
  if (layers() == 0 || !axisRect()->rect().contains(position.toPoint())) return std::nullopt;
  const HeadId head{std::llround(yAxis->pixelToCoord(position.y())),
                    std::llround(xAxis->pixelToCoord(position.x()))};
  if (!Has(head)) return std::nullopt;
  return head;
}

void HeadMapPlot::ResetView() {
  const double across = std::max<double>(static_cast<double>(heads()), 1);
  const double up = std::max<double>(static_cast<double>(layers()), 1);
  QCPRange x(-0.5, across - 0.5);
  QCPRange y(-0.5, up - 0.5);
  const QSize size = axisRect()->size();
  if (square_ && !size.isEmpty()) {
    const double cell = std::min(size.width() / across, size.height() / up);  // size in pixels
    x = QCPRange(x.center() - size.width() / cell / 2, x.center() + size.width() / cell / 2);
    y = QCPRange(y.center() - size.height() / cell / 2, y.center() + size.height() / cell / 2);
  }
  xAxis->setRange(x);
  yAxis->setRange(y);
}

void HeadMapPlot::SetSquare(bool square) {
  if (square == square_) return;
  square_ = square;
  FitView();
  QueueReplot();
}

// Makes cells square at the current size of the axes.
void HeadMapPlot::FitLayout() {
  const QSize size = axisRect()->size();
  if (std::exchange(fitted_, size) == size || !square_) return;
  FitView();
  QueueReplot();
}

std::optional<QPointF> HeadMapPlot::CurrentPoint() const {
  if (layers() == 0) return std::nullopt;
  return QPointF(xAxis->coordToPixel(static_cast<double>(selected_.head)),
                 yAxis->coordToPixel(static_cast<double>(selected_.layer)));
}

QString HeadMapPlot::TooltipAt(const QPointF& position) const {
  if (OnScale(position))
    return tr("%1\nwheel: range of the colours (Alt: the lower end); double click: all values")
        .arg(scale_label());
  const std::optional<HeadId> head = HeadAt(position);
  if (!head) return {};
  const double value = CellValue(*head);
  QString tip = HeadName(*head);
  for (const PinnedHead& pin : pinned_) {
    if (pin.head == *head) tip += tr(", pinned");
  }
  tip += QLatin1Char('\n');
  if (std::isnan(value)) return tip + tr("no value");
  if (!drawn_.own_text) {
    tip += QStringLiteral("%1 %2").arg(drawn_.value_name).arg(value, 0, 'g', 4);
  } else if (drawn_.note) {
    tip += drawn_.note(*head);
  }
  tip += tr("\nrank %1 of %2").arg(Rank(*head)).arg(layers() * heads());
  if (!drawn_.own_text && drawn_.note) tip += drawn_.note(*head);
  return tip;
}

void HeadMapPlot::ClickAt(const QPointF& position) {
  const std::optional<HeadId> head = HeadAt(position);
  if (!head) return;
  if (click_modifiers() & Qt::ControlModifier) {
    Q_EMIT PinRequested(*head);
    return;
  }
  SelectHead(*head);
  Q_EMIT HeadChosen(selected_);
}

void HeadMapPlot::HoverAt(const QPointF& position) { Q_EMIT HeadHovered(HeadAt(position)); }

void HeadMapPlot::HoverEnds() { Q_EMIT HeadHovered(std::nullopt); }

void HeadMapPlot::keyPressEvent(QKeyEvent* event) {
  if (paintable_ && PaintKey(event)) return;
  HeadId next = NearestHead(selected_, layers(), heads());
  switch (event->key()) {
    case Qt::Key_Left:
      --next.head;
      break;
    case Qt::Key_Right:
      ++next.head;
      break;
    // Up selects the next layer, which is drawn above; as in Transformer Debugger.
    case Qt::Key_Up:
      ++next.layer;
      break;
    case Qt::Key_Down:
      --next.layer;
      break;
    case Qt::Key_Space:
      if (layers() > 0) Q_EMIT PinRequested(next);
      return;
    default:
      Plot::keyPressEvent(event);
      return;
  }
  if (layers() == 0) return;
  SelectHead(NearestHead(next, layers(), heads()));
  Q_EMIT HeadChosen(selected_);
}

// Black and white together are visible on every colour.
void HeadMapPlot::RestyleData() {
  marker_below_->setPen(QPen(Qt::black, 5));
  marker_->setPen(QPen(Qt::white, 2));
  block_frame_->setPen(QPen(Qt::black, 2, Qt::DashLine));
  for (QCPItemRect* marker : {marker_below_, marker_, block_frame_}) marker->setBrush(Qt::NoBrush);
}

}  // namespace midscope
