// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/head_map_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/record_names.h"
#include "gui/base/head_text.h"
#include "gui/base/record_access.h"
#include "gui/plots/plot_style.h"
#include "gui/plots/same_numbers.h"
#include "gui/plots/scaled_map.h"
#include "gui/widgets/head_selection.h"

namespace midscope {
namespace {

QSharedPointer<QCPAxisTickerFixed> WholeNumbers(int64_t count) {
  auto ticker = QSharedPointer<QCPAxisTickerFixed>::create();
  ticker->setTickStep(count > 40 ? 5 : count > 14 ? 2 : 1);
  ticker->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
  return ticker;
}

}  // namespace

HeadMapPlot::HeadMapPlot(QWidget* parent)
    : Plot(tr("Position-awareness score"), QStringLiteral("head_map"), parent) {
  const ScaledMap scaled = MakeScaledMap(this);
  map_ = scaled.map;
  scale_ = scaled.scale;
  plotLayout()->addElement(1, 1, scale_);
  xAxis->setLabel(tr("head"));
  yAxis->setLabel(tr("layer"));
  yAxis->setRangeReversed(true);
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->grid()->setVisible(false);
    axis->setSubTicks(false);
  }
  axisRect()->setupFullAxesBox();
  xAxis2->setTicks(false);
  yAxis2->setTicks(false);
  marker_ = new QCPItemRect(this);
  marker_->setVisible(false);
  SetScale();
  SetEmptyMessage(tr("No run yet"));
  // Repeated: the colour scale did not exist when the base class called it.
  ApplyPalette(this, palette());
  RestyleData();
}

void HeadMapPlot::SetHeadsPerKeyValueHead(int64_t heads) {
  heads_per_key_value_head_ = std::max<int64_t>(heads, 1);
}

QString HeadMapPlot::scale_label() const { return scale_->label(); }

void HeadMapPlot::SetScale() {
  map_->setGradient(diverging() ? DifferenceGradient() : ViridisGradient());
  scale_->setLabel(scan_view_                      ? ScanValueName(*scan_view_)
                   : mode_ == MapMode::kDifference ? tr("score B − A (share of keys)")
                                                   : tr("score (share of keys)"));
  QCPRange range;
  bool first = true;
  for (int64_t layer = 0; layer < layers_; ++layer) {
    for (int64_t head = 0; head < heads_; ++head) {
      const double value = CellValue({layer, head});
      if (std::isnan(value)) continue;
      if (first) range = QCPRange(value, value);
      first = false;
      range.expand(value);
    }
  }
  if (diverging()) {
    const double extent = std::max({std::abs(range.lower), std::abs(range.upper), 1e-6});
    range = QCPRange(-extent, extent);
  } else {
    range.lower = std::min(range.lower, 0.0);
    if (range.size() <= 0) range.upper = range.lower + 1;
  }
  map_->setDataRange(range);
}

void HeadMapPlot::Show(const Record* score_a, const Record* score_b, const Record* ratio_a,
                       const Record* ratio_b, MapMode mode) {
  const auto usable = [](const Record* record) {
    return record && HasArray(*record, kPositionAwarenessScore, {"layer", "head"}) ? record
                                                                                   : nullptr;
  };
  const Record* a = usable(score_a);
  const Record* b = usable(score_b);
  const Record* shape = mode == MapMode::kB ? b : a;
  if (mode == MapMode::kDifference && !b) shape = nullptr;
  const Record* ratio = mode == MapMode::kA ? ratio_a : ratio_b;
  ratio_ = ratio ? *ratio : Record{};
  int64_t layers = shape ? AxisSize(*shape, "layer") : 0;
  int64_t heads = shape ? AxisSize(*shape, "head") : 0;
  if (layers == 0 || heads == 0) layers = heads = 0;
  std::vector<double> values;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const QVector<double> row_a =
        a ? LastAxisRow(*a, kPositionAwarenessScore, {layer}) : QVector<double>();
    const QVector<double> row_b =
        b ? LastAxisRow(*b, kPositionAwarenessScore, {layer}) : QVector<double>();
    for (int64_t head = 0; head < heads; ++head) {
      const double none = std::numeric_limits<double>::quiet_NaN();
      const double value_a = row_a.value(head, none);
      const double value_b = row_b.value(head, none);
      values.push_back(mode == MapMode::kA   ? value_a
                       : mode == MapMode::kB ? value_b
                                             : value_b - value_a);
    }
  }
  // Colours and scale are those of what is shown.
  if (mode != mode_ || scan_view_) layers_ = 0;
  mode_ = mode;
  scan_view_.reset();
  SetValues(std::move(values), layers, heads);
}

void HeadMapPlot::ShowScan(const Record& scan, const ScanView& view) {
  if (scan_view_ != view) layers_ = 0;
  scan_ = scan;
  scan_view_ = view;
  ratio_ = Record{};
  const int64_t layers = AxisSize(scan, "layer");
  const int64_t heads = AxisSize(scan, "head");
  std::vector<double> values;
  for (int64_t layer = 0; layer < layers; ++layer) {
    for (int64_t head = 0; head < heads; ++head)
      values.push_back(ScanEffectOf(scan, view, {layer, head}));
  }
  SetValues(std::move(values), layers, heads);
}

void HeadMapPlot::SetValues(std::vector<double> values, int64_t layers, int64_t heads) {
  const bool drawn = layers > 0 && layers == layers_ && heads == heads_ &&
                     std::equal(values.begin(), values.end(), values_.begin(), SameNumber);
  if (drawn) return;
  layers_ = layers;
  heads_ = heads;
  values_ = std::move(values);
  DrawCells();
}

void HeadMapPlot::DrawCells() {
  map_->data()->setSize(static_cast<int>(heads_), static_cast<int>(layers_));
  if (layers_ > 0) {
    map_->data()->setRange(QCPRange(0, static_cast<double>(heads_ - 1)),
                           QCPRange(0, static_cast<double>(layers_ - 1)));
  }
  for (int64_t layer = 0; layer < layers_; ++layer) {
    for (int64_t head = 0; head < heads_; ++head) {
      map_->data()->setCell(static_cast<int>(head), static_cast<int>(layer),
                            values_[static_cast<size_t>(layer * heads_ + head)]);
    }
  }
  xAxis->setTicker(WholeNumbers(heads_));
  yAxis->setTicker(WholeNumbers(layers_));
  SetEmptyMessage(layers_ > 0 ? QString() : tr("No run yet"));
  SetScale();
  PlaceMarker();
  ResetView();
  QueueReplot();
}

void HeadMapPlot::SelectHead(HeadId head) {
  selected_ = head;
  PlaceMarker();
  QueueReplot();
}

void HeadMapPlot::PlaceMarker() {
  marker_->setVisible(layers_ > 0);
  const HeadId drawn = NearestHead(selected_, layers_, heads_);
  const auto x = static_cast<double>(drawn.head);
  const auto y = static_cast<double>(drawn.layer);
  marker_->topLeft->setCoords(x - 0.5, y - 0.5);
  marker_->bottomRight->setCoords(x + 0.5, y + 0.5);
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

double HeadMapPlot::CellValue(HeadId head) const {
  if (head.layer < 0 || head.head < 0 || head.layer >= layers_ || head.head >= heads_) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return map_->data()->cell(static_cast<int>(head.head), static_cast<int>(head.layer));
}

int64_t HeadMapPlot::Rank(HeadId head) const {
  const double own = CellValue(head);
  if (std::isnan(own)) return 0;
  int64_t rank = 1;
  for (int64_t layer = 0; layer < layers_; ++layer) {
    for (int64_t other = 0; other < heads_; ++other) {
      if (CellValue({layer, other}) > own) ++rank;
    }
  }
  return rank;
}

std::optional<HeadId> HeadMapPlot::HeadAt(const QPointF& position) const {
  if (layers_ == 0 || !axisRect()->rect().contains(position.toPoint())) return std::nullopt;
  const HeadId head{std::llround(yAxis->pixelToCoord(position.y())),
                    std::llround(xAxis->pixelToCoord(position.x()))};
  if (head.layer < 0 || head.head < 0 || head.layer >= layers_ || head.head >= heads_) {
    return std::nullopt;
  }
  return head;
}

void HeadMapPlot::ResetView() {
  xAxis->setRange(-0.5, std::max<double>(static_cast<double>(heads_), 1) - 0.5);
  yAxis->setRange(-0.5, std::max<double>(static_cast<double>(layers_), 1) - 0.5);
}

QString HeadMapPlot::TooltipAt(const QPointF& position) const {
  const std::optional<HeadId> head = HeadAt(position);
  if (!head) return {};
  const double value = CellValue(*head);
  QString tip = HeadName(*head) + QLatin1Char('\n');
  if (std::isnan(value)) return tip + tr("no value");
  tip += ValueText(*head, value);
  tip += tr("\nrank %1 of %2").arg(Rank(*head)).arg(layers_ * heads_);
  const double ratio = ValueAt(ratio_, kPositionRatio, {head->layer, head->head});
  if (!std::isnan(ratio)) tip += tr("\nposition ratio %1").arg(ratio, 0, 'g', 4);
  return tip;
}

QString HeadMapPlot::ValueText(HeadId head, double value) const {
  if (scan_view_) return ScanEffectText(scan_, *scan_view_, head);
  return mode_ == MapMode::kDifference ? tr("score B − A: %1").arg(value, 0, 'g', 4)
                                       : tr("score %1").arg(value, 0, 'g', 4);
}

void HeadMapPlot::ClickAt(const QPointF& position) {
  const std::optional<HeadId> head = HeadAt(position);
  if (!head) return;
  SelectHead(*head);
  Q_EMIT HeadChosen(selected_);
}

void HeadMapPlot::keyPressEvent(QKeyEvent* event) {
  HeadId next = NearestHead(selected_, layers_, heads_);
  switch (event->key()) {
    case Qt::Key_Left:
      --next.head;
      break;
    case Qt::Key_Right:
      ++next.head;
      break;
    // Up selects the next layer, as in Transformer Debugger.
    case Qt::Key_Up:
      ++next.layer;
      break;
    case Qt::Key_Down:
      --next.layer;
      break;
    default:
      Plot::keyPressEvent(event);
      return;
  }
  if (layers_ == 0) return;
  SelectHead(NearestHead(next, layers_, heads_));
  Q_EMIT HeadChosen(selected_);
}

void HeadMapPlot::RestyleData() {
  marker_->setPen(QPen(SideColor(Side::kB), 2));
  marker_->setBrush(Qt::NoBrush);
}

}  // namespace midscope
