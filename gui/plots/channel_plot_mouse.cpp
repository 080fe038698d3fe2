// SPDX-License-Identifier: GPL-3.0-or-later
// ChannelPlot: tooltips, clicks and hovering.
#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/plots/channel_plot.h"
#include "gui/plots/plot_style.h"
#include "probes/measure/statistics/rank_statistics.h"

namespace midscope {

const QCPGraphData* ChannelPlot::PointAt(const QCPGraph* line, double position) const {
  const auto& points = *line->data();
  const QCPGraphData* nearest = nullptr;
  auto found = points.findBegin(position, true);  // the previous point, if there is one
  for (int i = 0; i < 2 && found != points.constEnd(); ++i, ++found) {
    const bool nearer =
        !nearest || std::abs(found->key - position) < std::abs(nearest->key - position);
    if (nearer) nearest = &*found;
  }
  const bool near = nearest && std::abs(nearest->key - position) < static_cast<double>(bin_);
  return near ? nearest : nullptr;
}

QString ChannelPlot::TooltipAt(const QPointF& position) const {
  if (!axisRect()->rect().contains(position.toPoint())) return {};
  const auto key = static_cast<double>(std::llround(xAxis->pixelToCoord(position.x())));
  const QCPGraph* nearest = nullptr;
  double nearest_pixels = 30;
  double nearest_value = 0;
  for (int i = 0; i < graphCount(); ++i) {
    const QCPGraphData* found = PointAt(graph(i), key);
    if (!found) continue;
    const double pixels = std::abs(yAxis->coordToPixel(found->value) - position.y());
    if (pixels < nearest_pixels) {
      nearest_pixels = pixels;
      nearest = graph(i);
      nearest_value = found->value;
    }
  }
  if (!nearest) return {};
  QString tip = QStringLiteral("%1, channel %2\n%3")
                    .arg(nearest->name())
                    .arg(view_.channel)
                    .arg(tr("position %1: %2").arg(key).arg(nearest_value, 0, 'g', 4));
  const auto token = static_cast<qsizetype>(key);
  if (token < tokens_.size()) tip += QLatin1Char('\n') + ShownToken(tokens_[token]);
  if (DragAt(position))
    tip += tr("\ndrag ↕: factor of B (now %1)").arg(*view_.factor_now, 0, 'g', 3);
  return tip;
}

int64_t ChannelPlot::TokenAt(const QPointF& position) const {
  if (!axisRect()->rect().contains(position.toPoint())) return -1;
  const int64_t token = std::llround(xAxis->pixelToCoord(position.x()));
  const int64_t tokens = std::max(AxisSize(hidden_a_, "position"), AxisSize(hidden_b_, "position"));
  return token >= 0 && token < tokens ? token : -1;
}

void ChannelPlot::ClickAt(const QPointF& position) {
  const int64_t token = TokenAt(position);
  if (token >= 0) Q_EMIT TokenClicked(token);
}

void ChannelPlot::Brush(const QPointF& from, const QPointF& to) {
  const int64_t tokens = std::max(AxisSize(hidden_a_, "position"), AxisSize(hidden_b_, "position"));
  if (tokens == 0) return;
  const auto at = [&](double x) {
    return std::clamp<int64_t>(std::llround(xAxis->pixelToCoord(x)), 0, tokens - 1);
  };
  const auto [first, last] = std::minmax({at(from.x()), at(to.x())});
  Q_EMIT RangeBrushed(first, last + 1);
}

void ChannelPlot::HoverAt(const QPointF& position) { Q_EMIT TokenHovered(TokenAt(position)); }

void ChannelPlot::HoverEnds() { Q_EMIT TokenHovered(-1); }

// ChannelPlot: dragging the line of the values that attention reads, which sets B's factor.

namespace {

// Distance from the line in pixels that still counts as a hit.
constexpr double kLineReach = 7;
// Pixels that the pointer must move, else a press is a click.
constexpr double kFactorSlack = 4;
constexpr double kFactorKeyStep = 0.1;  // step of the keys + and -
constexpr double kFactorSteps = 100;    // factors are rounded to hundredths, as on the slider
// As a share of the largest value; with values near 0 a line could not be dragged.
constexpr double kLeastSlope = 0.2;

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
  // Finds the lines of one layer by their names: those of A, then those of B.
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

// A negative factor moves the line away from all others. The axis range does not change during a
// drag.
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
  // Half the axis range, if the distance per unit of the factor is unknown.
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

// ChannelPlot: computation of its lines.

namespace {

// Number of bins per line; with more positions, a point represents several.
constexpr int64_t kMostBins = 512;

double PositionsOf(const Record& hidden_a, const Record& hidden_b) {
  return static_cast<double>(
      std::max(AxisSize(hidden_a, "position"), AxisSize(hidden_b, "position")));
}

}  // namespace

// A moving average. It excludes dropped positions too, because their values would dominate it.
QVector<double> ChannelPlot::Smoothed(const QVector<double>& values) const {
  const auto dropped = static_cast<qsizetype>(view_.dropped);
  const qsizetype reach = (std::max<int64_t>(view_.smoothing, 1) - 1) / 2;
  if (reach == 0) return values;
  const qsizetype size = values.size();
  std::vector<double> sums_before(static_cast<size_t>(size) + 1, 0.0);
  double* sums = sums_before.data();  // QVector's operator[] checks for shared data each time
  for (qsizetype i = 0; i < size; ++i) sums[i + 1] = sums[i] + (i < dropped ? 0 : values[i]);
  QVector<double> smoothed_values = values;
  double* smoothed = smoothed_values.data();
  for (qsizetype i = dropped; i < size; ++i) {
    const qsizetype first = std::max(i - reach, dropped);
    const qsizetype last = std::min(i + reach, size - 1);
    smoothed[i] = (sums[last + 1] - sums[first]) / static_cast<double>(last - first + 1);
  }
  return smoothed_values;
}

int64_t ChannelPlot::BinOf(double positions) const {
  int64_t bin = 1;
  const int64_t most = dragging() ? kMostBins / 2 : kMostBins;
  while (positions >= static_cast<double>(2 * bin * most)) bin *= 2;
  return bin;
}

double ChannelPlot::ShownPositions() const {
  const double positions = PositionsOf(hidden_a_, hidden_b_);
  return held() & Qt::Horizontal ? std::min(positions, xAxis->range().size()) : positions;
}

// After zooming in, lines have more points.
void ChannelPlot::FollowZoom() {
  const int64_t bin = BinOf(std::min(xAxis->range().size(), PositionsOf(hidden_a_, hidden_b_)));
  if (bin == bin_ || graphCount() == 0) return;
  bin_ = bin;
  Draw();
}

double ChannelPlot::RhoOf(const QVector<double>& values) const {
  const auto dropped = std::min<qsizetype>(view_.dropped, values.size());
  std::vector<double> positions;
  std::vector<double> numbers;
  for (qsizetype i = dropped; i < values.size(); ++i) {
    positions.push_back(static_cast<double>(i));
    numbers.push_back(values[i]);
  }
  return SpearmanCorrelation(positions, numbers);
}

QString ChannelPlot::RhoText(double rho) const {
  return std::isnan(rho) ? QString() : tr(", ρ %1").arg(rho, 0, 'f', 2);
}

ChannelPlot::MeanLine ChannelPlot::MeanOf(const Rows& rows) const {
  if (rows.empty()) return {};
  const qsizetype positions = rows.values.front().size();
  MeanLine line{QVector<double>(positions, 0.0), QVector<double>(positions, 0.0), 0};
  QVector<double> raw_sums(positions, 0.0);
  double* sum = line.mean.data();
  double* squares = line.deviation.data();
  double* raw = raw_sums.data();
  int64_t count = 0;
  for (size_t i = 0; i < rows.values.size(); ++i) {
    if (!InMean(static_cast<int64_t>(rows.layers.value(static_cast<qsizetype>(i))))) continue;
    const QVector<double>& values = rows.values[i];
    const QVector<double>& row = rows.smoothed[i];
    for (qsizetype at = 0; at < positions; ++at) {
      raw[at] += values[at];
      sum[at] += row[at];
      squares[at] += row[at] * row[at];
    }
    ++count;
  }
  if (count == 0) return {};
  line.rho = RhoOf(raw_sums);
  for (qsizetype at = 0; at < positions; ++at) {
    sum[at] /= static_cast<double>(count);
    const double variance = squares[at] / static_cast<double>(count) - sum[at] * sum[at];
    squares[at] = std::sqrt(std::max(variance, 0.0));
  }
  return line;
}

ChannelPlot::Rows ChannelPlot::RowsOf(const Record& hidden) const {
  Rows rows;
  if (!HasArray(hidden, kHiddenChannel, {"layer", "channel", "position"})) return rows;
  const int64_t channel = AxisIndexOf(hidden, "channel", static_cast<double>(view_.channel));
  if (channel < 0) return rows;
  rows.layers = AxisValues(hidden, "layer");
  for (int64_t layer = 0; layer < AxisSize(hidden, "layer"); ++layer) {
    rows.values.push_back(LastAxisRow(hidden, kHiddenChannel, {layer, channel}));
    rows.smoothed.push_back(Smoothed(rows.values.back()));
  }
  return rows;
}

}  // namespace midscope
