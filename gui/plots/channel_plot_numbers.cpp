// SPDX-License-Identifier: GPL-3.0-or-later
// ChannelPlot: computation of its lines.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/plots/channel_plot.h"
#include "probes/measure/statistics/rank_statistics.h"

namespace midscope {
namespace {

// Number of bins per line; with more positions, a point represents several.
constexpr int64_t kMostBins = 1024;

double PositionsOf(const Record& hidden_a, const Record& hidden_b) {
  return static_cast<double>(
      std::max(AxisSize(hidden_a, "position"), AxisSize(hidden_b, "position")));
}

}  // namespace

// A moving average. It excludes dropped positions too, because their values would dominate it.
QVector<double> ChannelPlot::Smoothed(const QVector<double>& values) const {
  const auto dropped = static_cast<qsizetype>(view_.dropped);
  const qsizetype reach = (std::max<int64_t>(view_.smoothing, 1) - 1) / 2;
  QVector<double> sums(values.size() + 1, 0.0);
  for (qsizetype i = 0; i < values.size(); ++i) {
    sums[i + 1] = sums[i] + (i < dropped ? 0 : values[i]);
  }
  QVector<double> smoothed = values;
  for (qsizetype i = dropped; reach > 0 && i < values.size(); ++i) {
    const qsizetype first = std::max(i - reach, dropped);
    const qsizetype last = std::min(i + reach, values.size() - 1);
    smoothed[i] = (sums[last + 1] - sums[first]) / static_cast<double>(last - first + 1);
  }
  return smoothed;
}

int64_t ChannelPlot::BinOf(double positions) {
  int64_t bin = 1;
  while (positions >= static_cast<double>(2 * bin * kMostBins)) bin *= 2;
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
  QVector<double> sum(positions, 0.0);
  QVector<double> squares(positions, 0.0);
  QVector<double> raw(positions, 0.0);
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
  MeanLine line{sum, squares, RhoOf(raw)};
  for (qsizetype at = 0; at < positions; ++at) {
    line.mean[at] = sum[at] / static_cast<double>(count);
    const double variance =
        squares[at] / static_cast<double>(count) - line.mean[at] * line.mean[at];
    line.deviation[at] = std::sqrt(std::max(variance, 0.0));
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
