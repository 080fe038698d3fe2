// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/attention_plot.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "gui/base/head_quantities.h"
#include "gui/plots/plot_labels.h"
#include "gui/plots/plot_style.h"
#include "gui/plots/tokens/token_scale.h"

namespace midscope {
namespace {

// On a logarithmic axis, smaller weights are drawn at the lower end.
constexpr double kLogFloor = 1e-7;

bool HasNumbers(const QVector<double>& row) {
  return std::any_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace

AttentionPlot::AttentionPlot(QWidget* parent)
    : Plot(tr("Attention of the last query"), QStringLiteral("attention"), parent) {
  UseLegendRow();
  UseBrush();
  ticker_ = TokenTicker::Use(xAxis);
  gold_shade_ = MakeShade();
  range_shade_ = MakeShade();
  hover_shade_ = MakeShade();
  for (QCPItemRect* shade : {range_shade_, hover_shade_}) HideInPictures(shade);
  graph_a_ = addGraph();
  graph_b_ = addGraph();
  difference_ = addGraph();
  difference_->setVisible(false);
  sums_a_ = addGraph();
  sums_b_ = addGraph();
  for (QCPGraph* graph : {difference_, sums_a_, sums_b_}) graph->removeFromLegend();
  rings_a_ = addGraph();
  rings_b_ = addGraph();
  for (QCPGraph* rings : {rings_a_, rings_b_}) {
    rings->setLineStyle(QCPGraph::lsNone);
    rings->removeFromLegend();
  }
  threshold_a_ = new QCPItemStraightLine(this);
  threshold_b_ = new QCPItemStraightLine(this);
  for (QCPItemStraightLine* line : {threshold_a_, threshold_b_}) {
    line->setLayer(QStringLiteral("background"));
    line->setVisible(false);
  }
  gold_name_ = new QCPItemText(this);
  hover_name_ = new QCPItemText(this);
  for (QCPItemText* name : {gold_name_, hover_name_}) {
    name->position->setTypeX(QCPItemPosition::ptPlotCoords);
    name->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    name->setPositionAlignment(Qt::AlignHCenter | Qt::AlignTop);
    name->setFont(font());
    name->setVisible(false);
  }
  marked_ = new QCPItemStraightLine(this);
  marked_->setVisible(false);
  for (QCPLayerable* mark : std::initializer_list<QCPLayerable*>{marked_, hover_name_}) {
    PutOnMarksLayer(mark);
  }
  xAxis->setLabel(tr("token"));
  yAxis->setLabel(tr("attention weight"));
  SetNames(tr("A"), tr("B"));
  connect(xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this,
          &AttentionPlot::FollowRange);
  connect(this, &QCustomPlot::afterLayout, this, &AttentionPlot::WidenGold);
  SetLogarithmic(false);
  RestyleData();
  SetEmptyMessage(tr("No run yet"));
}

void AttentionPlot::FillGraph(QCPGraph* graph, const QVector<double>& row) {
  QVector<QCPGraphData> points(row.size());
  for (qsizetype i = 0; i < row.size(); ++i) {
    points[i] = QCPGraphData(static_cast<double>(i), row[i]);
  }
  graph->data()->set(points, true);
  graph->setScatterStyle(QCPScatterStyle::ssNone);
  MarkSinglePoint(graph);
}

void AttentionPlot::SetRows(const QVector<double>& row_a, const QVector<double>& row_b) {
  const bool same_extent =
      std::max(row_a.size(), row_b.size()) == std::max(row_a_.size(), row_b_.size());
  // Layers that were not finished had no values.
  const bool had_numbers = HasNumbers(row_a_) || HasNumbers(row_b_);
  const bool any = !row_a.isEmpty() || !row_b.isEmpty();  // an empty plot may need another message
  if (any && SameNumbers(row_a, row_a_) && SameNumbers(row_b, row_b_)) return;
  row_a_ = row_a;
  row_b_ = row_b;
  FillLines();
  SetEmptyMessage(row_a_.isEmpty() && row_b_.isEmpty() ? tr("No run yet") : QString());
  // While a slider is dragged, the axis ranges change only if a value is outside them.
  double highest = 0;
  double lowest = 0;
  for (const double value : DrawnValues()) {
    highest = std::max(highest, value);
    lowest = std::min(lowest, value);
  }
  const QCPRange shown = yAxis->range();
  const bool outside = highest > shown.upper || (lowest < 0 && lowest < shown.lower);
  if (!same_extent || outside || !had_numbers) FitView();
  QueueReplot();
}

void AttentionPlot::FillLines() {
  FillGraph(graph_a_, row_a_);
  FillGraph(graph_b_, row_b_);
  QVector<double> difference;
  for (qsizetype i = 0; differs() && i < std::min(row_a_.size(), row_b_.size()); ++i) {
    difference.append(row_b_[i] - row_a_[i]);
  }
  FillGraph(difference_, difference);
  FillAllSums();
  PlaceCounted(counted_a_, row_a_, rings_a_, threshold_a_);
  PlaceCounted(counted_b_, row_b_, rings_b_, threshold_b_);
  StyleLines();
  UseScale();
  ShowLines();
}

// If there is no B, every mode shows A.
void AttentionPlot::ShowLines() {
  const bool b = !row_b_.isEmpty();
  const bool only_b = b && compare_ == Compare::kB;
  const bool shown_a = !only_b && !differs();
  const bool shown_b = b && !differs() && compare_ != Compare::kA;
  const bool tokens = !shows_sums_;
  const std::tuple<QCPGraph*, bool> lines[] = {{graph_a_, shown_a && tokens},
                                               {graph_b_, shown_b && tokens},
                                               {difference_, differs()},
                                               {sums_a_, shown_a && !sums_a_->data()->isEmpty()},
                                               {sums_b_, shown_b && !sums_b_->data()->isEmpty()}};
  for (const auto& [line, shown] : lines) {
    line->setVisible(shown);
    if (shown && !compact_) {
      line->addToLegend();
    } else {
      line->removeFromLegend();
    }
  }
  rings_a_->setVisible(shown_a && tokens);
  rings_b_->setVisible(shown_b && tokens);
  threshold_a_->setVisible(!row_a_.isEmpty() && !counted_a_.counted.isEmpty() && shown_a && tokens);
  threshold_b_->setVisible(!row_b_.isEmpty() && !counted_b_.counted.isEmpty() && shown_b && tokens);
  for (size_t i = 0; i < other_graphs_.size(); ++i) {
    const bool of_a = i % 2 == 0;
    const bool shown = other_graphs_[i]->data()->size() > 0 && !differs() &&
                       (of_a ? compare_ != Compare::kB || others_[i / 2].row_b.isEmpty()
                             : compare_ != Compare::kA);
    other_graphs_[i]->setVisible(shown && tokens);
    other_sums_[i]->setVisible(shown && shows_sums_);
    QCPGraph* named = tokens ? other_graphs_[i] : other_sums_[i];
    QCPGraph* unnamed = tokens ? other_sums_[i] : other_graphs_[i];
    unnamed->removeFromLegend();
    named->removeFromLegend();
    if (shown && of_a && !compact_) named->addToLegend();  // B has A's colour, dashed
  }
}

// A difference has negative values, which a logarithmic axis cannot show.
void AttentionPlot::UseScale() {
  const bool log = logarithmic_ && !differs();
  if (!compact_) {
    yAxis->setLabel(differs()     ? tr("attention weight, B − A")
                    : shows_sums_ ? tr("attention, sum per passage")
                                  : tr("attention weight"));
  }
  if (log == (yAxis->scaleType() == QCPAxis::stLogarithmic)) return;
  if (log) {
    LogTicker::Use(yAxis);
  } else {
    yAxis->setScaleType(QCPAxis::stLinear);
    yAxis->setTicker(QSharedPointer<QCPAxisTicker>::create());
    yAxis->setNumberFormat(QStringLiteral("gb"));
    yAxis->setNumberPrecision(4);
  }
  ReleaseAlongY();  // the range belongs to the other scale
  FitView();
}

void AttentionPlot::SetCompare(Compare compare) {
  if (compare == compare_) return;
  compare_ = compare;
  FillLines();
  FitView();
  QueueReplot();
}

void AttentionPlot::SetCompact() {
  compact_ = true;
  xAxis->setLabel(QString());
  yAxis->setLabel(QString());
  axisRect()->setAutoMargins({QCP::msTop, QCP::msBottom, QCP::msRight});
  ShowLines();
  QueueReplot();
}

void AttentionPlot::SetLeft(int left) {
  const int margin = left - axisRect()->outerRect().left();
  if (margin == axisRect()->margins().left()) return;
  axisRect()->setMargins(QMargins(margin, 0, 0, 0));
  QueueReplot();
}

void AttentionPlot::ShowTokenLabels(bool shown) {
  if (shown == xAxis->tickLabels()) return;
  xAxis->setTickLabels(shown);
  QueueReplot();
}

void AttentionPlot::SetHeadColor(const QColor& color) {
  if (color == head_color_) return;
  head_color_ = color;
  RestyleData();
  QueueReplot();
}

void AttentionPlot::SetOthers(const std::vector<HeadRow>& others) {
  if (others == others_) return;
  others_ = others;
  for (const std::vector<QCPGraph*>* graphs : {&other_graphs_, &other_sums_}) {
    for (QCPGraph* graph : *graphs) removeGraph(graph);
  }
  other_graphs_.clear();
  other_sums_.clear();
  for (const HeadRow& other : others_) {
    for (const bool b : {false, true}) {
      QCPGraph* graph = addGraph();
      graph->setName(b ? tr("%1, B").arg(other.name) : other.name);
      FillGraph(graph, b ? other.row_b : other.row_a);
      other_graphs_.push_back(graph);
      other_sums_.push_back(addGraph());
      other_sums_.back()->setName(graph->name());
    }
  }
  FillAllSums();
  StyleLines();
  ShowLines();
  RestyleData();
  FitView();
  QueueReplot();
}

void AttentionPlot::SetRange(const TokenSpan& range) {
  if (range == range_) return;
  range_ = range;
  PlaceShade(range_shade_, range_);
  QueueReplot();
}

void AttentionPlot::PlaceCounted(const CountedRow& counted, const QVector<double>& row,
                                 QCPGraph* rings, QCPItemStraightLine* line) {
  QVector<QCPGraphData> points;
  for (qsizetype key = 0; key < std::min(row.size(), counted.counted.size()); ++key) {
    if (counted.counted[key] == 1) points.append({static_cast<double>(key), row[key]});
  }
  rings->data()->set(points, true);
  line->setVisible(!row.isEmpty() && !counted.counted.isEmpty());
  line->point1->setCoords(0, counted.threshold);
  line->point2->setCoords(1, counted.threshold);
}

void AttentionPlot::SetCounted(const CountedRow& counted_a, const CountedRow& counted_b) {
  if (counted_a == counted_a_ && counted_b == counted_b_) return;  // SetRows draws them
  counted_a_ = counted_a;
  counted_b_ = counted_b;
  PlaceCounted(counted_a_, row_a_, rings_a_, threshold_a_);
  PlaceCounted(counted_b_, row_b_, rings_b_, threshold_b_);
  ShowLines();
  QueueReplot();
}

QString AttentionPlot::CountedText(const CountedRow& counted, int64_t key) const {
  if (key >= counted.counted.size()) return {};
  return (counted.counted[key] == 1 ? tr(", counted by the score (%1 before rotation)")
                                    : tr(", not counted by the score (%1 before rotation)"))
      .arg(counted.rule);
}

void AttentionPlot::SetNames(const QString& name_a, const QString& name_b) {
  if (graph_a_->name() == name_a && graph_b_->name() == name_b) return;
  graph_a_->setName(name_a);
  graph_b_->setName(name_b);
  difference_->setName(tr("B − A"));
  RestyleData();  // names the sums
  QueueReplot();
}

void AttentionPlot::SetOlder(bool older_a, bool older_b) {
  if (older_a == older_a_ && older_b == older_b_) return;
  older_a_ = older_a;
  older_b_ = older_b;
  RestyleData();
  QueueReplot();
}

void AttentionPlot::SetLogarithmic(bool on) {
  logarithmic_ = on;
  UseScale();
  QueueReplot();
}

void AttentionPlot::SetMarkedKey(int64_t key) {
  marked_->setVisible(key >= 0);
  marked_->point1->setCoords(static_cast<double>(key), 0);
  marked_->point2->setTypeY(QCPItemPosition::ptAxisRectRatio);
  marked_->point1->setTypeY(QCPItemPosition::ptAxisRectRatio);
  marked_->point1->setCoords(static_cast<double>(key), 0);
  marked_->point2->setCoords(static_cast<double>(key), 1);
  ReplotMarks();
}

QVector<double> AttentionPlot::DrawnValues() const {
  QVector<double> values;
  const auto add = [&values, this](const QCPGraph* graph) {
    if (!graph->visible()) return;
    for (const QCPGraphData& point : *graph->data()) {
      if (stems_ && !xAxis->range().contains(point.key)) continue;
      if (!std::isnan(point.value)) values.append(point.value);
    }
  };
  for (const QCPGraph* graph : {graph_a_, graph_b_, difference_, sums_a_, sums_b_}) add(graph);
  for (const QCPGraph* graph : other_graphs_) add(graph);
  for (const QCPGraph* graph : other_sums_) add(graph);
  return values;
}

void AttentionPlot::ResetView() {
  const qsizetype keys = std::max({row_a_.size(), row_b_.size(), qsizetype{1}});
  const double margin = std::max(0.5, 0.01 * static_cast<double>(keys));
  xAxis->setRange(-margin, static_cast<double>(keys) - 1 + margin);
  FollowRange();
  ResetAlongY();
}

void AttentionPlot::ResetAlongY() {
  double highest = 0;
  double lowest = 1;
  double least = 0;
  for (const double value : DrawnValues()) {
    highest = std::max(highest, value);
    least = std::min(least, value);
    if (value > 0) lowest = std::min(lowest, value);
  }
  if (highest <= 0 && least >= 0) highest = 1;
  if (yAxis->scaleType() == QCPAxis::stLogarithmic) {
    yAxis->setRange(std::max(lowest * 0.7, kLogFloor), highest * 2.5);
  } else {
    yAxis->setRange(least * 1.12, highest * 1.12);
  }
}

}  // namespace midscope
