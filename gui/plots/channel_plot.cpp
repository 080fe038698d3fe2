// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/channel_plot.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/plots/plot_style.h"
#include "gui/plots/token_ticker.h"
#include "probes/statistics/rank_statistics.h"

namespace midscope {
namespace {

constexpr double kTail = 0.01;  // share of values at either end that the initial range may exclude
constexpr int kMostNamed = 4;   // layers at the edge of the frame

}  // namespace

ChannelPlot::ChannelPlot(QWidget* parent)
    : Plot(tr("Hidden channel against position"), QStringLiteral("hidden_channel"), parent) {
  UseLegendRow();
  UseBrush();
  ticker_ = TokenTicker::Use(xAxis);
  xAxis->setLabel(tr("position (token)"));
  yAxis->setLabel(tr("value in the residual stream"));
  range_shade_ = new QCPItemRect(this);
  for (QCPItemPosition* corner : {range_shade_->topLeft, range_shade_->bottomRight}) {
    corner->setTypeX(QCPItemPosition::ptPlotCoords);
    corner->setTypeY(QCPItemPosition::ptAxisRectRatio);
  }
  range_shade_->setPen(Qt::NoPen);
  range_shade_->setLayer(QStringLiteral("background"));
  range_shade_->setVisible(false);
  marked_ = new QCPItemStraightLine(this);
  marked_->setVisible(false);
  PutOnMarksLayer(marked_);
  for (QCPItemPosition* point : {marked_->point1, marked_->point2}) {
    point->setTypeY(QCPItemPosition::ptAxisRectRatio);
  }
  for (QCPItemText** note : {&above_, &below_}) {
    *note = new QCPItemText(this);
    (*note)->position->setType(QCPItemPosition::ptAxisRectRatio);
    (*note)->setFont(font());
    (*note)->setVisible(false);
  }
  above_->position->setCoords(0.99, 0.01);
  above_->setPositionAlignment(Qt::AlignRight | Qt::AlignTop);
  below_->position->setCoords(0.99, 0.99);
  below_->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
  connect(this, &QCustomPlot::beforeReplot, this, &ChannelPlot::NoteBeyond);
  SetEmptyMessage(tr("No run yet"));
  RestyleData();
}

void ChannelPlot::SetTokens(const QStringList& tokens) {
  if (!tokens.isEmpty() && tokens != tokens_) ReleaseView();
  tokens_ = tokens;
  ticker_->SetTokens(tokens_);
}

void ChannelPlot::SetRange(const TokenSpan& range) {
  range_shade_->setVisible(!range.empty());
  range_shade_->topLeft->setCoords(static_cast<double>(range.begin) - 0.5, 0);
  range_shade_->bottomRight->setCoords(static_cast<double>(range.end) - 0.5, 1);
  QueueReplot();
}

void ChannelPlot::SetMarkedToken(int64_t token) {
  marked_->setVisible(token >= 0);
  marked_->point1->setCoords(static_cast<double>(token), 0);
  marked_->point2->setCoords(static_cast<double>(token), 1);
  ReplotMarks();
}

// A moving mean. Dropped positions are excluded from it as well: their values would dominate it.
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

QCPGraph* ChannelPlot::AddLine(const QVector<double>& smoothed, const QString& name,
                               const QPen& pen) {
  QCPGraph* graph = addGraph();
  graph->setName(name);
  graph->setPen(pen);
  graph->setAdaptiveSampling(true);
  graph->removeFromLegend();
  QVector<QCPGraphData> points;
  for (qsizetype i = std::min<qsizetype>(view_.dropped, smoothed.size()); i < smoothed.size();
       ++i) {
    points.append(QCPGraphData(static_cast<double>(i), smoothed[i]));
  }
  graph->data()->set(points, true);
  return graph;
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

// Viridis ends in a yellow that is not seen on white, and begins with a violet that is not seen on
// black: these parts are left out.
QColor ChannelPlot::LayerColor(int64_t index, int64_t layers) const {
  const bool dark = palette().color(QPalette::Base).lightnessF() < 0.5;
  const double share = static_cast<double>(index) / std::max<double>(1, layers - 1);
  QCPColorGradient gradient = ViridisGradient();
  return gradient.color(dark ? 0.3 + 0.7 * share : 0.62 * share, QCPRange(0, 1));
}

void ChannelPlot::AddLayers(const Record& hidden, int64_t channel_index, Side side, bool faint) {
  const int64_t layers = AxisSize(hidden, "layer");
  const QVector<double> numbers = AxisValues(hidden, "layer");
  for (int64_t i = 0; i < layers; ++i) {
    const auto layer = static_cast<int64_t>(numbers.value(i));
    const bool chosen = view_.layer >= 0;
    if (chosen && layer != view_.layer) continue;
    QColor color = chosen ? SideColor(side) : LayerColor(i, layers);
    if (!chosen && faint) color.setAlpha(InMean(layer) ? 110 : 60);
    const bool dashed = side == Side::kB;
    const QVector<double> values = LastAxisRow(hidden, kHiddenChannel, {i, channel_index});
    const QString name = chosen ? tr("%1 L%2%3")
                                      .arg(side == Side::kA ? tr("A") : tr("B"))
                                      .arg(layer)
                                      .arg(RhoText(RhoOf(values)))
                                : QStringLiteral("L%1").arg(layer);
    QCPGraph* line =
        AddLine(Smoothed(values), name,
                LinePen(color, chosen ? 1.6 : 1, dashed ? Qt::DashLine : Qt::SolidLine));
    if (chosen) line->addToLegend();
    if (!chosen && !InMean(layer)) beyond_mean_.insert(line);
    layer_lines_.push_back(line);
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

ChannelPlot::MeanLine ChannelPlot::MeanOf(const Record& hidden, int64_t channel_index) const {
  const QVector<double> numbers = AxisValues(hidden, "layer");
  const auto positions = static_cast<qsizetype>(AxisSize(hidden, "position"));
  QVector<double> sum(positions, 0.0);
  QVector<double> squares(positions, 0.0);
  QVector<double> raw(positions, 0.0);
  int64_t count = 0;
  for (int64_t i = 0; i < AxisSize(hidden, "layer"); ++i) {
    if (!InMean(static_cast<int64_t>(numbers.value(i)))) continue;
    const QVector<double> values = LastAxisRow(hidden, kHiddenChannel, {i, channel_index});
    const QVector<double> row = Smoothed(values);
    for (qsizetype at = 0; at < std::min(positions, row.size()); ++at) {
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

void ChannelPlot::AddMean(const MeanLine& line, Side side) {
  if (line.mean.isEmpty()) return;
  QVector<double> lower = line.mean;
  QVector<double> upper = line.mean;
  for (qsizetype at = 0; at < line.mean.size(); ++at) {
    lower[at] -= line.deviation[at];
    upper[at] += line.deviation[at];
  }
  QColor fill = SideColor(side);
  fill.setAlpha(45);
  const QString name = side == Side::kA ? tr("A") : tr("B");
  QCPGraph* below = AddLine(lower, tr("%1, mean − s.d.").arg(name), Qt::NoPen);
  QCPGraph* above = AddLine(upper, tr("%1, mean + s.d.").arg(name), Qt::NoPen);
  above->setBrush(fill);
  above->setChannelFillGraph(below);
  (side == Side::kA ? band_a_ : band_b_) = above;
  const QString factor = side == Side::kA ? view_.factor_a : view_.factor_b;
  QCPGraph* mean =
      AddLine(line.mean, QStringLiteral("%1%2, %3%4").arg(name, factor, MeanText(), RhoText(line.rho)),
              LinePen(SideColor(side), 2.4, side == Side::kB ? Qt::DashLine : Qt::SolidLine));
  mean->addToLegend();
  (side == Side::kA ? mean_a_ : mean_b_) = mean;
}

void ChannelPlot::AddDifference(const MeanLine& a, const MeanLine& b) {
  QVector<double> difference;
  for (qsizetype at = 0; at < std::min(a.mean.size(), b.mean.size()); ++at) {
    difference.append(b.mean[at] - a.mean[at]);
  }
  mean_b_ = AddLine(difference, tr("B%1 − A, %2").arg(view_.factor_b, MeanText()),
                    LinePen(SideColor(Side::kB), 2.4));
  mean_b_->addToLegend();
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
  View as_before = view;
  // Another factor alone is a step of the knob.
  as_before.factor_a = view_.factor_a;
  as_before.factor_b = view_.factor_b;
  as_before.factor_now = view_.factor_now;
  const bool same_view = as_before == view_ && graphCount() > 0;
  if (same_a && view == view_ && graphCount() > 0 && Holds(hidden_b, hidden_b_)) return;
  // A step of the knob leaves the picture where the lines of A do.
  const bool keep_range = same_a && same_view;
  if (view.channel != view_.channel || view.compare != view_.compare) ReleaseAlongY();
  view_ = view;
  if (!same_a) hidden_a_ = hidden_a ? *hidden_a : Record{};
  hidden_b_ = hidden_b ? *hidden_b : Record{};
  Draw();
  if (!keep_range) FitView();
  QueueReplot();
}

void ChannelPlot::Draw() {
  clearGraphs();
  mean_a_ = mean_b_ = band_a_ = band_b_ = read_ = nullptr;
  layer_lines_.clear();
  beyond_mean_.clear();
  const auto channel = static_cast<double>(view_.channel);
  const auto index_of = [channel](const Record& hidden) {
    const bool has = HasArray(hidden, kHiddenChannel, {"layer", "channel", "position"});
    return has ? AxisIndexOf(hidden, "channel", channel) : int64_t{-1};
  };
  const int64_t index_a = index_of(hidden_a_);
  const int64_t index_b = index_of(hidden_b_);
  const bool difference = view_.compare == Compare::kDifference && index_a >= 0 && index_b >= 0;
  const bool means = view_.layer < 0;
  difference_ = difference;
  if (difference) {
    View layers = view_;
    // Of one layer the mean is that of the layer alone.
    if (!means) view_.highlighted = {false, {{view_.layer, view_.layer}}};
    AddDifference(MeanOf(hidden_a_, index_a), MeanOf(hidden_b_, index_b));
    view_ = std::move(layers);
  } else {
    DrawBoth(index_a, index_b);
    AddRead();
  }
  SetEmptyMessage(EmptyText(index_a >= 0 || index_b >= 0));
  DrawTitle(difference);
}

// Why nothing is drawn; "": something is.
QString ChannelPlot::EmptyText(bool captured) const {
  bool any = false;
  for (int i = 0; i < graphCount(); ++i) any = any || graph(i)->dataCount() > 0;
  if (any) return {};
  if (!captured) return tr("Channel %1 has not been captured yet").arg(view_.channel);
  return tr("The first %1 positions are left out (drop first), and the prompt has no more")
      .arg(view_.dropped);
}

// Lines of all layers of both would overlap: thin lines are of A, or of B alone.
void ChannelPlot::DrawBoth(int64_t index_a, int64_t index_b) {
  const bool shown_a = index_a >= 0 && (view_.compare != Compare::kB || index_b < 0);
  const bool shown_b = index_b >= 0 && (view_.compare != Compare::kA || index_a < 0);
  const bool means = view_.layer < 0;
  if (shown_a) AddLayers(hidden_a_, index_a, Side::kA, means);
  if (shown_b && !(means && shown_a)) AddLayers(hidden_b_, index_b, Side::kB, means);
  if (!means) return;
  if (shown_a) AddMean(MeanOf(hidden_a_, index_a), Side::kA);
  if (shown_b) AddMean(MeanOf(hidden_b_, index_b), Side::kB);
}

void ChannelPlot::DrawTitle(bool difference) {
  const QString what = difference ? tr("B − A")
                       : view_.layer >= 0
                           ? tr("layer %1 (A solid, B dashed)").arg(view_.layer)
                           : tr("mean ± s.d.; thin: %1").arg(ColorOrderText(tr("layers")));
  SetTitle(tr("Hidden channel %1 against position — %2").arg(view_.channel).arg(what));
  yAxis->setLabel(view_.smoothing > 1 ? tr("value, moving mean over %1").arg(view_.smoothing)
                                      : tr("value in the residual stream"));
}

void ChannelPlot::ResetView() {
  rescaleAxes();
  // The same part of the tokens as the attention shows, whose axis may be linked.
  const int64_t tokens = std::max(AxisSize(hidden_a_, "position"), AxisSize(hidden_b_, "position"));
  const double margin = std::max(0.5, 0.01 * static_cast<double>(tokens));
  if (tokens > 0) xAxis->setRange(-margin, static_cast<double>(tokens) - 1 + margin);
  // The last layer's norm can be ten times the others': the range covers nearly all values of the
  // layers in the mean; lines beyond it are clipped at the frame, and named there.
  std::vector<double> values;
  for (int i = 0; i < graphCount(); ++i) {
    if (beyond_mean_.contains(graph(i))) continue;
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

// The lines' own colours and widths are set where they are made.
void ChannelPlot::RestyleData() {
  const QColor text = palette().color(QPalette::Text);
  QColor chosen = palette().color(QPalette::Highlight);
  chosen.setAlpha(70);
  range_shade_->setBrush(chosen);
  QColor line = text;
  line.setAlpha(120);
  marked_->setPen(QPen(line, 1, Qt::DotLine));
  for (QCPItemText* note : {above_, below_}) note->setColor(text);
  Draw();
  QueueReplot();
}

QString ChannelPlot::BeyondText(bool above) const {
  const QCPRange x = xAxis->range();
  const QCPRange y = yAxis->range();
  QStringList names;
  for (const QCPGraph* line : layer_lines_) {
    const auto begin = line->data()->findBegin(x.lower, false);
    const auto end = line->data()->findEnd(x.upper, false);
    const bool beyond = std::any_of(begin, end, [&](const QCPGraphData& point) {
      return above ? point.value > y.upper : point.value < y.lower;
    });
    if (beyond) names << line->name();
  }
  if (names.size() > kMostNamed) return tr("%1 layers").arg(names.size());
  return names.join(QStringLiteral(", "));
}

void ChannelPlot::NoteBeyond() {
  for (const bool above : {true, false}) {
    QCPItemText* note = above ? above_ : below_;
    const QString names = BeyondText(above);
    note->setVisible(!names.isEmpty());
    note->setText((above ? QStringLiteral("▲ ") : QStringLiteral("▼ ")) + names);
  }
}

}  // namespace midscope
