// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/attention_plot.h"

#include <algorithm>
#include <cmath>

#include "core/base/record_names.h"
#include "gui/base/head_choice.h"
#include "gui/base/record_access.h"
#include "gui/plots/plot_style.h"
#include "gui/plots/same_numbers.h"

namespace midscope {
namespace {

// Smaller weights are drawn at the lower end of a logarithmic axis.
constexpr double kLogFloor = 1e-7;
// Dots for single tokens are drawn only where they do not overlap.
constexpr int kMostDots = 400;

}  // namespace

AttentionPlot::AttentionPlot(QWidget* parent)
    : Plot(tr("Attention of the last query"), QStringLiteral("attention"), parent) {
  UseLegendRow();
  gold_shade_ = MakeShade();
  hover_shade_ = MakeShade();
  graph_a_ = addGraph();
  graph_b_ = addGraph();
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
  xAxis->setLabel(tr("token"));
  yAxis->setLabel(tr("attention weight"));
  SetNames(tr("A"), tr("B"));
  SetLogarithmic(true);
  RestyleData();
  SetEmptyMessage(tr("No run yet"));
}

QCPItemRect* AttentionPlot::MakeShade() {
  auto* shade = new QCPItemRect(this);
  for (QCPItemPosition* corner : {shade->topLeft, shade->bottomRight}) {
    corner->setTypeX(QCPItemPosition::ptPlotCoords);
    corner->setTypeY(QCPItemPosition::ptAxisRectRatio);
  }
  shade->setPen(Qt::NoPen);
  shade->setLayer(QStringLiteral("background"));
  shade->setVisible(false);
  return shade;
}

void AttentionPlot::PlaceShade(QCPItemRect* shade, const TokenSpan& span) {
  shade->setVisible(!span.empty());
  shade->topLeft->setCoords(static_cast<double>(span.begin) - 0.5, 0);
  shade->bottomRight->setCoords(static_cast<double>(span.end) - 0.5, 1);
}

void AttentionPlot::SetPrompt(const Record* prompt) {
  tokens_.clear();
  spans_.clear();
  gold_ = {};
  if (prompt) {
    tokens_ = Texts(*prompt, "token_text");
    const QStringList names = Texts(*prompt, kSpanName);
    const QVector<double> begins = LastAxisRow(*prompt, "span_token_begin", {});
    const QVector<double> ends = LastAxisRow(*prompt, "span_token_end", {});
    gold_ = GoldTokens(*prompt);
    for (qsizetype i = 0; i < std::min({names.size(), begins.size(), ends.size()}); ++i) {
      TokenSpan span{names[i].toStdString(), static_cast<int64_t>(begins[i]),
                     static_cast<int64_t>(ends[i])};
      const bool is_gold = span.begin == gold_.begin && span.end == gold_.end;
      if (!is_gold) spans_.push_back(std::move(span));
    }
  }
  PlaceShade(gold_shade_, gold_);
  PlaceShade(hover_shade_, {});
  hover_name_->setVisible(false);
  gold_name_->setVisible(!gold_.empty());
  gold_name_->setText(tr("gold"));
  gold_name_->position->setCoords(static_cast<double>(gold_.begin + gold_.end - 1) / 2, 0.01);
  QueueReplot();
}

void AttentionPlot::FillGraph(QCPGraph* graph, const QVector<double>& row) {
  QVector<QCPGraphData> points(row.size());
  for (qsizetype i = 0; i < row.size(); ++i) {
    points[i] = QCPGraphData(static_cast<double>(i), row[i]);
  }
  graph->data()->set(points, true);
}

// Antialiased dots cost more than all the rest: none while a slider is dragged.
void AttentionPlot::StyleDots() {
  for (QCPGraph* graph : {graph_a_, graph_b_}) {
    const bool dots = !dragging() && graph->data()->size() <= kMostDots;
    graph->setScatterStyle(dots ? QCPScatterStyle(QCPScatterStyle::ssDisc, 4)
                                : QCPScatterStyle(QCPScatterStyle::ssNone));
  }
}

void AttentionPlot::SetRows(const QVector<double>& row_a, const QVector<double>& row_b) {
  const bool same_extent =
      std::max(row_a.size(), row_b.size()) == std::max(row_a_.size(), row_b_.size());
  const bool any = !row_a.isEmpty() || !row_b.isEmpty();  // an empty plot may have another reason
  if (any && SameNumbers(row_a, row_a_) && SameNumbers(row_b, row_b_)) return;
  row_a_ = row_a;
  row_b_ = row_b;
  FillGraph(graph_a_, row_a_);
  FillGraph(graph_b_, row_b_);
  PlaceCounted(counted_a_, row_a_, rings_a_, threshold_a_);
  PlaceCounted(counted_b_, row_b_, rings_b_, threshold_b_);
  StyleDots();
  graph_b_->setVisible(!row_b_.isEmpty());
  if (row_b_.isEmpty()) {
    graph_b_->removeFromLegend();
  } else {
    graph_b_->addToLegend();
  }
  SetEmptyMessage(row_a_.isEmpty() && row_b_.isEmpty() ? tr("No run yet") : QString());
  // While a slider is dragged, the axes' ranges change only if a value is outside them.
  double highest = 0;
  for (const double value : row_a_ + row_b_) {
    if (value > highest) highest = value;
  }
  if (!same_extent || highest > yAxis->range().upper) ResetView();
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
  if (counted_a == counted_a_ && counted_b == counted_b_) return;  // SetRows places them
  counted_a_ = counted_a;
  counted_b_ = counted_b;
  PlaceCounted(counted_a_, row_a_, rings_a_, threshold_a_);
  PlaceCounted(counted_b_, row_b_, rings_b_, threshold_b_);
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
  yAxis->setScaleType(on ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  if (on) {
    yAxis->setTicker(QSharedPointer<QCPAxisTickerLog>::create());
    yAxis->setNumberFormat(QStringLiteral("eb"));
    yAxis->setNumberPrecision(0);
  } else {
    yAxis->setTicker(QSharedPointer<QCPAxisTicker>::create());
    yAxis->setNumberFormat(QStringLiteral("gb"));
    yAxis->setNumberPrecision(4);
  }
  ResetView();
  QueueReplot();
}

void AttentionPlot::SetMarkedKey(int64_t key) {
  marked_->setVisible(key >= 0);
  marked_->point1->setCoords(static_cast<double>(key), 0);
  marked_->point2->setTypeY(QCPItemPosition::ptAxisRectRatio);
  marked_->point1->setTypeY(QCPItemPosition::ptAxisRectRatio);
  marked_->point1->setCoords(static_cast<double>(key), 0);
  marked_->point2->setCoords(static_cast<double>(key), 1);
  QueueReplot();
}

int64_t AttentionPlot::KeyAt(const QPointF& position) const {
  if (!axisRect()->rect().contains(position.toPoint())) return -1;
  const int64_t key = std::llround(xAxis->pixelToCoord(position.x()));
  const int64_t keys = std::max(row_a_.size(), row_b_.size());
  return key >= 0 && key < keys ? key : -1;
}

void AttentionPlot::ResetView() {
  const qsizetype keys = std::max({row_a_.size(), row_b_.size(), qsizetype{1}});
  double highest = 0;
  double lowest = 1;
  for (const double value : row_a_ + row_b_) {
    if (std::isnan(value)) continue;
    highest = std::max(highest, value);
    if (value > 0) lowest = std::min(lowest, value);
  }
  if (highest <= 0) highest = 1;
  const double margin = std::max(0.5, 0.01 * static_cast<double>(keys));
  xAxis->setRange(-margin, static_cast<double>(keys) - 1 + margin);
  if (logarithmic_) {
    yAxis->setRange(std::max(lowest * 0.7, kLogFloor), highest * 2.5);
  } else {
    yAxis->setRange(0, highest * 1.12);
  }
}

const TokenSpan* AttentionPlot::SpanAt(int64_t key) const {
  const TokenSpan* best = nullptr;
  for (const TokenSpan& span : spans_) {
    if (key < span.begin || key >= span.end) continue;
    if (!best || span.end - span.begin < best->end - best->begin) best = &span;
  }
  return best;
}

QString AttentionPlot::TooltipAt(const QPointF& position) const {
  const int64_t key = KeyAt(position);
  if (key < 0) return {};
  const qsizetype last = std::max(row_a_.size(), row_b_.size()) - 1;
  const auto named = [this](int64_t token) {
    return ShownToken(tokens_.value(token)) + QStringLiteral(" (%1)").arg(token);
  };
  QString tip = tr("%1 → %2").arg(named(last), named(key));
  if (key >= gold_.begin && key < gold_.end) {
    tip += tr("\nin the gold passage");
  } else if (const TokenSpan* span = SpanAt(key)) {
    tip += tr("\nin %1").arg(QString::fromStdString(span->name));
  }
  const auto value_text = [key](const QVector<double>& row) {
    return std::isnan(row[key]) ? tr("not known yet") : QString::number(row[key], 'g', 4);
  };
  if (key < row_a_.size())
    tip += tr("\nA %1").arg(value_text(row_a_)) + CountedText(counted_a_, key);
  if (key < row_b_.size())
    tip += tr("\nB %1").arg(value_text(row_b_)) + CountedText(counted_b_, key);
  return tip;
}

void AttentionPlot::HoverAt(const QPointF& position) {
  const int64_t key = KeyAt(position);
  const TokenSpan* span = key < 0 ? nullptr : SpanAt(key);
  PlaceShade(hover_shade_, span ? *span : TokenSpan{});
  hover_name_->setVisible(span != nullptr);
  if (span) {
    hover_name_->setText(QString::fromStdString(span->name));
    hover_name_->position->setCoords(static_cast<double>(span->begin + span->end - 1) / 2, 0.07);
  }
  QueueReplot();
  Q_EMIT KeyHovered(key);
}

void AttentionPlot::HoverEnds() {
  PlaceShade(hover_shade_, {});
  hover_name_->setVisible(false);
  QueueReplot();
  Q_EMIT KeyHovered(-1);
}

void AttentionPlot::RestyleData() {
  StyleDots();
  graph_a_->setPen(older_a_ ? OlderPen(1.2) : LinePen(SideColor(Side::kA), 1.4));
  graph_b_->setPen(older_b_ ? OlderPen(1.2) : LinePen(SideColor(Side::kB), 1.4));
  const auto mark = [this](QCPGraph* rings, QCPItemStraightLine* line, Side side) {
    QCPScatterStyle ring(QCPScatterStyle::ssCircle, 9);
    ring.setPen(LinePen(SideColor(side), 1.2));
    rings->setScatterStyle(ring);
    line->setPen(QPen(SideColor(side), 1, Qt::DashLine));
  };
  mark(rings_a_, threshold_a_, Side::kA);
  mark(rings_b_, threshold_b_, Side::kB);
  QColor gold = GoldColor();
  gold.setAlpha(90);
  gold_shade_->setBrush(gold);
  const QColor text = palette().color(QPalette::Text);
  QColor faint = text;
  faint.setAlpha(28);
  hover_shade_->setBrush(faint);
  gold_name_->setColor(text);
  hover_name_->setColor(text);
  QColor line = text;
  line.setAlpha(120);
  marked_->setPen(QPen(line, 1, Qt::DotLine));
}

}  // namespace midscope
