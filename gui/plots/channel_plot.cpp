// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/channel_plot.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/plots/plot_style.h"
#include "gui/plots/tokens/token_scale.h"

namespace midscope {
namespace {

constexpr double kTail = 0.01;  // share of values at each end that the initial range may exclude
constexpr int kMostNamed = 4;   // largest number of layers named at the edge of the frame
constexpr int kBandBins = 4;    // bins of a line that are one bin of a band

}  // namespace

ChannelPlot::ChannelPlot(QWidget* parent)
    : Plot(tr("Hidden channel against position"), QStringLiteral("hidden_channel"), parent) {
  UseLegendRow();
  UseCurveLabels();
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
  HideInPictures(range_shade_);
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
  connect(xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this,
          &ChannelPlot::FollowZoom);
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

QCPGraph* ChannelPlot::AddLine(const QVector<double>& smoothed, const QString& name,
                               const QPen& pen, Extremes drawn) {
  QCPGraph* graph = addGraph();
  graph->setName(name);
  graph->setPen(pen);
  graph->setAdaptiveSampling(true);
  graph->removeFromLegend();
  QVector<QCPGraphData> points;
  // A band is filled as a polygon, which takes Qt several times as long as a line.
  const qsizetype bin = drawn == Extremes::kBoth || bin_ == 1 ? bin_ : kBandBins * bin_;
  points.reserve(2 * (smoothed.size() / bin + 1));
  const auto add = [&](QVector<double>::const_iterator at) {
    points.append(QCPGraphData(static_cast<double>(at - smoothed.begin()), *at));
  };
  for (qsizetype begin = std::min<qsizetype>(view_.dropped, smoothed.size());
       begin < smoothed.size(); begin += bin) {
    const auto first = smoothed.begin() + begin;
    const auto end = smoothed.begin() + std::min<qsizetype>(begin + bin, smoothed.size());
    const auto [least, largest] = std::minmax_element(first, end);
    if (drawn != Extremes::kBoth) {
      add(drawn == Extremes::kLeast ? least : largest);
      continue;
    }
    add(std::min(least, largest));
    if (least != largest) add(std::max(least, largest));
  }
  graph->data()->set(points, true);
  return graph;
}

// Omits both ends of Viridis: its yellow is invisible on white, and its violet on black.
QColor ChannelPlot::LayerColor(int64_t index, int64_t layers) const {
  const bool dark = palette().color(QPalette::Base).lightnessF() < 0.5;
  const double share = static_cast<double>(index) / std::max<double>(1, layers - 1);
  QCPColorGradient gradient = ViridisGradient();
  return gradient.color(dark ? 0.3 + 0.7 * share : 0.62 * share, QCPRange(0, 1));
}

void ChannelPlot::AddLayers(const Rows& rows, Side side, bool faint) {
  for (size_t i = 0; i < rows.values.size(); ++i) {
    const auto layer = static_cast<int64_t>(rows.layers.value(static_cast<qsizetype>(i)));
    const bool chosen = view_.layer >= 0;
    if (chosen && layer != view_.layer) continue;
    QColor color =
        chosen ? SideColor(side)
               : LayerColor(static_cast<int64_t>(i), static_cast<int64_t>(rows.values.size()));
    if (!chosen && faint) color.setAlpha(InMean(layer) ? 110 : 60);
    const bool dashed = side == Side::kB;
    const QString name = chosen ? tr("%1 L%2%3")
                                      .arg(side == Side::kA ? tr("A") : tr("B"))
                                      .arg(layer)
                                      .arg(RhoText(RhoOf(rows.values[i])))
                                : QStringLiteral("L%1").arg(layer);
    QCPGraph* line =
        AddLine(rows.smoothed[i], name,
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
  QCPGraph* below = AddLine(lower, tr("%1, mean − s.d.").arg(name), Qt::NoPen, Extremes::kLeast);
  QCPGraph* above = AddLine(upper, tr("%1, mean + s.d.").arg(name), Qt::NoPen, Extremes::kLargest);
  above->setBrush(fill);
  above->setChannelFillGraph(below);
  (side == Side::kA ? band_a_ : band_b_) = above;
  QCPGraph* mean =
      AddLine(line.mean, QString(),
              LinePen(SideColor(side), 2.4, side == Side::kB ? Qt::DashLine : Qt::SolidLine));
  mean->addToLegend();
  (side == Side::kA ? mean_a_ : mean_b_) = mean;
  (side == Side::kA ? rho_a_ : rho_b_) = line.rho;
}

void ChannelPlot::AddDifference(const MeanLine& a, const MeanLine& b) {
  QVector<double> difference;
  for (qsizetype at = 0; at < std::min(a.mean.size(), b.mean.size()); ++at) {
    difference.append(b.mean[at] - a.mean[at]);
  }
  mean_b_ = AddLine(difference, QString(), LinePen(SideColor(Side::kB), 2.4));
  mean_b_->addToLegend();
}

void ChannelPlot::DrawFactors() {
  if (read_) removeGraph(read_);
  read_ = nullptr;
  if (difference_) {
    const QString what = view_.layer >= 0 ? tr("layer %1").arg(view_.layer) : MeanText();
    mean_b_->setName(tr("B%1 − A, %2").arg(view_.factor_b, what));
    return;
  }
  const QString pattern = QStringLiteral("%1%2, %3%4");
  if (mean_a_) mean_a_->setName(pattern.arg(tr("A"), view_.factor_a, MeanText(), RhoText(rho_a_)));
  if (mean_b_) mean_b_->setName(pattern.arg(tr("B"), view_.factor_b, MeanText(), RhoText(rho_b_)));
  AddRead();
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
  const bool same_b = Holds(hidden_b, hidden_b_);
  View as_before = view;
  // A change of only the factor redraws only what depends on it.
  as_before.factor_a = view_.factor_a;
  as_before.factor_b = view_.factor_b;
  as_before.factor_now = view_.factor_now;
  const bool same_view = as_before == view_ && graphCount() > 0;
  if (same_a && same_b && same_view) {
    if (view == view_) return;
    view_ = view;
    DrawFactors();
    QueueReplot();
    return;
  }
  // The range is kept if only B changes.
  const bool keep_range = same_a && same_view;
  if (view.channel != view_.channel || view.compare != view_.compare) ReleaseAlongY();
  view_ = view;
  if (!same_a) hidden_a_ = hidden_a ? *hidden_a : Record{};
  if (!same_b) hidden_b_ = hidden_b ? *hidden_b : Record{};
  if (!same_a || !same_view) rows_a_ = RowsOf(hidden_a_);
  if (!same_b || !same_view) rows_b_ = RowsOf(hidden_b_);
  bin_ = BinOf(ShownPositions());
  Draw();
  if (!keep_range) FitView();
  QueueReplot();
}

void ChannelPlot::Draw() {
  clearGraphs();
  mean_a_ = mean_b_ = band_a_ = band_b_ = read_ = nullptr;
  layer_lines_.clear();
  beyond_mean_.clear();
  const bool both = !rows_a_.empty() && !rows_b_.empty();
  difference_ = view_.compare == Compare::kDifference && both;
  if (difference_) {
    View layers = view_;
    // With one layer selected, the mean is that layer's line.
    if (view_.layer >= 0) view_.highlighted = {false, {{view_.layer, view_.layer}}};
    AddDifference(MeanOf(rows_a_), MeanOf(rows_b_));
    view_ = std::move(layers);
  } else {
    DrawBoth();
  }
  DrawFactors();
  SetEmptyMessage(EmptyText(!rows_a_.empty() || !rows_b_.empty()));
  DrawTitle(difference_);
}

// Why nothing is drawn, or "" if something is drawn.
QString ChannelPlot::EmptyText(bool captured) const {
  bool any = false;
  for (int i = 0; i < graphCount(); ++i) any = any || graph(i)->dataCount() > 0;
  if (any) return {};
  if (!captured) return tr("Channel %1 has not been captured yet").arg(view_.channel);
  return tr("The first %1 positions are left out (drop first), and the prompt has no more")
      .arg(view_.dropped);
}

// Draws the thin lines of A only, or of B if only B is shown, because thin lines of both settings
// would overlap.
void ChannelPlot::DrawBoth() {
  const bool has_a = !rows_a_.empty();
  const bool has_b = !rows_b_.empty();
  const bool shown_a = has_a && (view_.compare != Compare::kB || !has_b);
  const bool shown_b = has_b && (view_.compare != Compare::kA || !has_a);
  const bool means = view_.layer < 0;
  if (shown_a) AddLayers(rows_a_, Side::kA, means);
  if (shown_b && !(means && shown_a)) AddLayers(rows_b_, Side::kB, means);
  if (!means) return;
  if (shown_a) AddMean(MeanOf(rows_a_), Side::kA);
  if (shown_b) AddMean(MeanOf(rows_b_), Side::kB);
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
  // Uses the same token range as the attention plot, because their axes may be linked.
  const int64_t tokens = std::max(AxisSize(hidden_a_, "position"), AxisSize(hidden_b_, "position"));
  const double margin = std::max(0.5, 0.01 * static_cast<double>(tokens));
  if (tokens > 0) xAxis->setRange(-margin, static_cast<double>(tokens) - 1 + margin);
  // The norm of the last layer can be ten times that of the others. The range covers nearly all
  // values of the layers in the mean; lines that leave it are clipped at the frame and named there.
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

// Colours and widths of lines are set where the lines are created.
void ChannelPlot::RestyleData() {
  const QColor text = palette().color(QPalette::Text);
  QColor chosen = palette().color(QPalette::Highlight);
  chosen.setAlpha(70);
  range_shade_->setBrush(chosen);
  QColor line = text;
  line.setAlpha(120);
  marked_->setPen(QPen(line, 1, Qt::DotLine));
  for (QCPItemText* note : {above_, below_}) {
    note->setColor(text);
    note->setBrush(palette().color(QPalette::Base));  // it is above the curves
  }
  bin_ = BinOf(ShownPositions());
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
