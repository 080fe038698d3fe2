// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/channel_plot.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

constexpr double kTail = 0.01;  // share of values at either end that the initial range may exclude

}  // namespace

ChannelPlot::ChannelPlot(QWidget* parent)
    : Plot(tr("Hidden channel against position"), QStringLiteral("hidden_channel"), parent) {
  xAxis->setLabel(tr("position (token)"));
  yAxis->setLabel(tr("value in the residual stream"));
  SetEmptyMessage(tr("No run yet"));
}

double ChannelPlot::MeanAround(const QVector<double>& values, qsizetype position) const {
  const qsizetype reach = (std::max<int64_t>(view_.smoothing, 1) - 1) / 2;
  // Dropped positions are excluded from the mean as well: their values would dominate it.
  const qsizetype first = std::max<qsizetype>(position - reach, view_.dropped);
  const qsizetype last = std::min<qsizetype>(position + reach, values.size() - 1);
  double sum = 0;
  for (qsizetype i = first; i <= last; ++i) sum += values[i];
  return sum / static_cast<double>(last - first + 1);
}

void ChannelPlot::AddLine(const QVector<double>& values, const QString& name, const QPen& pen) {
  QCPGraph* graph = addGraph();
  graph->setName(name);
  graph->setPen(pen);
  graph->setAdaptiveSampling(true);
  QVector<QCPGraphData> points;
  for (qsizetype i = std::min<qsizetype>(view_.dropped, values.size()); i < values.size(); ++i) {
    points.append(QCPGraphData(static_cast<double>(i), MeanAround(values, i)));
  }
  graph->data()->set(points, true);
}

void ChannelPlot::AddLayers(const Record& hidden, int64_t channel_index, Side side) {
  const int64_t layers = AxisSize(hidden, "layer");
  const QVector<double> numbers = AxisValues(hidden, "layer");
  QCPColorGradient gradient = ViridisGradient();
  const bool any_highlighted = view_.highlighted.all || !view_.highlighted.ranges.empty();
  const bool beside_means =
      AxisIndexOf(hidden_b_, "channel", static_cast<double>(view_.channel)) >= 0;
  for (int64_t i = 0; i < layers; ++i) {
    const auto layer = static_cast<int64_t>(numbers.value(i));
    if (view_.layer >= 0 && layer != view_.layer) continue;
    QColor color =
        gradient.color(static_cast<double>(i), QCPRange(0, std::max<double>(1, layers - 1)));
    qreal width = 1;
    if (view_.layer >= 0) {
      color = SideColor(side);
      width = 1.6;
    } else if (beside_means) {
      color.setAlpha(60);
    } else if (any_highlighted) {
      const bool covered = view_.highlighted.Contains(layer);
      color.setAlpha(covered ? 255 : 70);
      width = covered ? 1.6 : 1;
    }
    const bool dashed = side == Side::kB;
    AddLine(LastAxisRow(hidden, kHiddenChannel, {i, channel_index}),
            QStringLiteral("L%1").arg(layer),
            LinePen(color, width, dashed ? Qt::DashLine : Qt::SolidLine));
  }
}

bool ChannelPlot::InMean(int64_t layer) const {
  const bool any = view_.highlighted.all || !view_.highlighted.ranges.empty();
  return !any || view_.highlighted.Contains(layer);
}

QString ChannelPlot::MeanText() const {
  const bool some = !view_.highlighted.all && !view_.highlighted.ranges.empty();
  return some ? tr("mean of layers %1").arg(QString::fromStdString(view_.highlighted.Text()))
              : tr("mean of all layers");
}

void ChannelPlot::AddMean(const Record& hidden, int64_t channel_index, Side side) {
  const QVector<double> numbers = AxisValues(hidden, "layer");
  QVector<double> mean(AxisSize(hidden, "position"), 0.0);
  int64_t count = 0;
  for (int64_t i = 0; i < AxisSize(hidden, "layer"); ++i) {
    if (!InMean(static_cast<int64_t>(numbers.value(i)))) continue;
    const QVector<double> row = LastAxisRow(hidden, kHiddenChannel, {i, channel_index});
    for (qsizetype position = 0; position < mean.size(); ++position) {
      mean[position] += row.value(position);
    }
    ++count;
  }
  if (count == 0) return;
  for (double& value : mean) value /= static_cast<double>(count);
  AddLine(mean, tr("%1, %2, ").arg(side == Side::kA ? tr("A") : tr("B"), MeanText()),
          LinePen(SideColor(side), 2.2, side == Side::kB ? Qt::DashLine : Qt::SolidLine));
}

bool ChannelPlot::Holds(const Record* hidden, const Record& drawn) {
  if (!hidden) return drawn.arrays.empty();
  const Array* next = hidden->FindArray(kHiddenChannel);
  const Array* known = drawn.FindArray(kHiddenChannel);
  return next && known && next->data == known->data &&
         AxisValues(*hidden, "channel") == AxisValues(drawn, "channel");
}

void ChannelPlot::Show(const Record* hidden_a, const Record* hidden_b, const View& view) {
  const bool same_a = Holds(hidden_a, hidden_a_);
  const bool same_view = view == view_ && graphCount() > 0;
  if (same_a && same_view && Holds(hidden_b, hidden_b_)) return;
  // While a slider is dragged the picture stands still where the lines of A do.
  const bool keep_range = dragging() && same_a && same_view;
  view_ = view;
  if (!same_a) hidden_a_ = hidden_a ? *hidden_a : Record{};
  hidden_b_ = hidden_b ? *hidden_b : Record{};
  Draw();
  if (!keep_range) ResetView();
  QueueReplot();
}

void ChannelPlot::Draw() {
  clearGraphs();
  const auto channel = static_cast<double>(view_.channel);
  const int64_t index_a = AxisIndexOf(hidden_a_, "channel", channel);
  const int64_t index_b = AxisIndexOf(hidden_b_, "channel", channel);
  const bool has_a =
      index_a >= 0 && HasArray(hidden_a_, kHiddenChannel, {"layer", "channel", "position"});
  const bool has_b =
      index_b >= 0 && HasArray(hidden_b_, kHiddenChannel, {"layer", "channel", "position"});
  if (has_a) AddLayers(hidden_a_, index_a, Side::kA);
  // Lines of all layers of both would overlap: with B only the means over layers are compared.
  const bool means = has_a && has_b && view_.layer < 0;
  if (has_b && !means) AddLayers(hidden_b_, index_b, Side::kB);
  if (means) {
    AddMean(hidden_a_, index_a, Side::kA);
    AddMean(hidden_b_, index_b, Side::kB);
  }
  const bool nothing = graphCount() == 0;
  SetEmptyMessage(nothing ? tr("Channel %1 has not been captured yet").arg(view_.channel)
                          : QString());
  const QString layer_text = view_.layer >= 0 ? tr("layer %1 (A solid, B dashed)").arg(view_.layer)
                             : means
                                 ? tr("%1 (A solid, B dashed), layers of A thin").arg(MeanText())
                                 : ColorOrderText(tr("layers"));
  SetTitle(tr("Hidden channel %1 against position — %2").arg(view_.channel).arg(layer_text));
  yAxis->setLabel(view_.smoothing > 1
                      ? tr("residual stream, moving mean over %1 positions").arg(view_.smoothing)
                      : tr("value in the residual stream"));
}

void ChannelPlot::ResetView() {
  rescaleAxes();
  // The last layer's norm can be ten times the others': the range covers nearly all values; lines
  // beyond it are clipped at the frame (zooming out shows them).
  std::vector<double> values;
  for (int i = 0; i < graphCount(); ++i) {
    for (const QCPGraphData& point : *graph(i)->data()) {
      if (!std::isnan(point.value)) values.push_back(point.value);
    }
  }
  if (values.size() < 2) return;
  const auto quantile = [&values](double share) {
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<size_t>(at)];
  };
  const double low = quantile(kTail);
  const double high = quantile(1 - kTail);
  if (high > low) yAxis->setRange(QCPRange(low, high));
  yAxis->scaleRange(1.15);
}

QString ChannelPlot::TooltipAt(const QPointF& position) const {
  if (!axisRect()->rect().contains(position.toPoint())) return {};
  const auto key = static_cast<double>(std::llround(xAxis->pixelToCoord(position.x())));
  const QCPGraph* nearest = nullptr;
  double nearest_pixels = 30;
  double nearest_value = 0;
  for (int i = 0; i < graphCount(); ++i) {
    const auto found = graph(i)->data()->findBegin(key, false);
    if (found == graph(i)->data()->constEnd() || found->key != key) continue;
    const double pixels = std::abs(yAxis->coordToPixel(found->value) - position.y());
    if (pixels < nearest_pixels) {
      nearest_pixels = pixels;
      nearest = graph(i);
      nearest_value = found->value;
    }
  }
  if (!nearest) return {};
  return QStringLiteral("%1N%2\n%3")
      .arg(nearest->name())
      .arg(view_.channel)
      .arg(tr("position %1: %2").arg(key).arg(nearest_value, 0, 'g', 4));
}

// The lines' own colours and widths are set where they are made.
void ChannelPlot::RestyleData() {
  Draw();
  QueueReplot();
}

}  // namespace midscope
