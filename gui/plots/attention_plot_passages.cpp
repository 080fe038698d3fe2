// SPDX-License-Identifier: GPL-3.0-or-later
// AttentionPlot: drawing the prompt's passages as shaded areas and as sums.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/record_names.h"
#include "gui/base/head_quantities.h"
#include "gui/base/record_access.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_style.h"
#include "gui/plots/tokens/token_scale.h"

namespace midscope {

namespace {

constexpr int kWeightDigits = 9;  // of a weight in CSV

// The passages that contain no other passage, in their order.
std::vector<TokenSpan> SmallestOf(std::vector<TokenSpan> spans) {
  std::vector<TokenSpan> smallest;
  for (const TokenSpan& span : spans) {
    const bool holds = std::any_of(spans.begin(), spans.end(), [&span](const TokenSpan& other) {
      return other.begin >= span.begin && other.end <= span.end &&
             other.end - other.begin < span.end - span.begin;
    });
    if (!holds && !span.empty()) smallest.push_back(span);
  }
  std::sort(smallest.begin(), smallest.end(),
            [](const TokenSpan& left, const TokenSpan& right) { return left.begin < right.begin; });
  return smallest;
}

}  // namespace

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
  const QStringList before = std::exchange(tokens_, {});
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
  passages_ = spans_;
  if (!gold_.empty()) passages_.push_back(gold_);
  passages_ = SmallestOf(std::move(passages_));
  ticker_->SetTokens(tokens_);
  FollowRange();
  if (prompt && before != tokens_) ReleaseView();  // between two prompts there may be no prompt
  PlaceShade(gold_shade_, gold_);
  PlaceShade(hover_shade_, {});
  hover_name_->setVisible(false);
  gold_name_->setVisible(!gold_.empty());
  gold_name_->setText(tr("gold"));
  gold_name_->position->setCoords(static_cast<double>(gold_.begin + gold_.end - 1) / 2, 0.01);
  QueueReplot();
}

bool AttentionPlot::WantsSums() const {
  return yAxis->scaleType() == QCPAxis::stLinear && !differs() && passages_.size() > 1 &&
         xAxis->range().size() > kMostStems;
}

std::vector<TokenSpan> AttentionPlot::BarSpans(int64_t keys) const {
  std::vector<TokenSpan> all;
  int64_t end = 0;
  for (const TokenSpan& passage : passages_) {
    if (passage.begin > end) all.push_back({"", end, passage.begin});
    all.push_back(passage);
    end = std::max(end, passage.end);
  }
  if (end < keys) all.push_back({"", end, keys});
  return all;
}

// Fills a graph with one bar or horizontal line per passage and gaps between them. One passage
// could not be compared with others.
void AttentionPlot::FillSums(QCPGraph* graph, const QVector<double>& row, const Slot& slot) const {
  QVector<QCPGraphData> points;
  const auto keys = static_cast<int64_t>(row.size());
  const bool lines = yAxis->scaleType() == QCPAxis::stLogarithmic && keys >= kMostSteps;
  const bool drawn = (shows_sums_ || lines) && passages_.size() > 1;
  for (const TokenSpan& passage : shows_sums_ ? BarSpans(keys) : passages_) {
    if (!drawn || passage.begin < 0 || passage.end > keys) continue;
    double sum = 0;
    for (int64_t key = passage.begin; key < passage.end; ++key) sum += row[key];
    const double width = static_cast<double>(passage.end - passage.begin) / slot.count;
    const double begin = static_cast<double>(passage.begin) - 0.5 + slot.index * width;
    const double end = begin + width;
    if (shows_sums_) points << QCPGraphData(begin, 0);
    points << QCPGraphData(begin, sum) << QCPGraphData(end, sum);
    if (shows_sums_) points << QCPGraphData(end, 0);
    points << QCPGraphData(end, std::numeric_limits<double>::quiet_NaN());
  }
  // Sorted already: another sort would exchange points of one bar, whose keys are equal.
  graph->data()->set(points, true);
  SetInTable(graph, shows_sums_);
}

// Draws the bars of one passage beside each other: A, B, and the other drawn heads.
void AttentionPlot::FillAllSums() {
  const bool b = !row_b_.isEmpty() && compare_ != Compare::kA;
  const bool a = row_b_.isEmpty() || compare_ != Compare::kB;
  std::vector<std::pair<QCPGraph*, const QVector<double>*>> bars;
  if (a) bars.emplace_back(sums_a_, &row_a_);
  if (b) bars.emplace_back(sums_b_, &row_b_);
  for (size_t i = 0; i < other_sums_.size(); ++i) {
    const HeadRow& other = others_[i / 2];
    const QVector<double>& row = i % 2 == 0 ? other.row_a : other.row_b;
    if (!row.isEmpty()) bars.emplace_back(other_sums_[i], &row);
  }
  const bool beside = shows_sums_;
  for (QCPGraph* sums : {sums_a_, sums_b_}) sums->data()->clear();
  for (QCPGraph* sums : other_sums_) sums->data()->clear();
  for (size_t i = 0; i < bars.size(); ++i) {
    const Slot slot{beside ? static_cast<int>(i) : 0, beside ? static_cast<int>(bars.size()) : 1};
    FillSums(bars[i].first, *bars[i].second, slot);
  }
}

QString AttentionPlot::Table() const {
  if (!shows_sums_) return {};
  QString csv = QStringLiteral("name,token,attention weight\n");
  const auto add = [&csv](const QCPGraph* sums, const QVector<double>& row) {
    if (!sums->visible()) return;
    for (qsizetype key = 0; key < row.size(); ++key) {
      csv += QStringLiteral("%1,%2,%3\n")
                 .arg(CsvField(sums->name()))
                 .arg(key)
                 .arg(row[key], 0, 'g', kWeightDigits);
    }
  };
  add(sums_a_, row_a_);
  add(sums_b_, row_b_);
  for (size_t i = 0; i < other_sums_.size(); ++i)
    add(other_sums_[i], i % 2 == 0 ? others_[i / 2].row_a : others_[i / 2].row_b);
  return csv;
}

void AttentionPlot::FollowRange() {
  const bool sums = WantsSums();
  const bool stems = yAxis->scaleType() == QCPAxis::stLinear && xAxis->range().size() <= kMostStems;
  if (std::exchange(stems_, stems) != stems) {
    StyleLines();
    RestyleData();
  }
  if (sums == shows_sums_) return;
  shows_sums_ = sums;
  FillAllSums();
  UseScale();
  ShowLines();
  RestyleData();
  ReleaseAlongY();  // the range belongs to the other quantity
  ResetAlongY();
}

// The gold is visible even if it has less than three pixels.
void AttentionPlot::WidenGold() {
  if (gold_.empty()) return;
  constexpr double kLeast = 3;  // pixels
  const double pixel = xAxis->range().size() / std::max(axisRect()->width(), 1);
  const double more =
      std::max(0.0, kLeast * pixel - static_cast<double>(gold_.end - gold_.begin)) / 2;
  gold_shade_->topLeft->setCoords(static_cast<double>(gold_.begin) - 0.5 - more, 0);
  gold_shade_->bottomRight->setCoords(static_cast<double>(gold_.end) - 0.5 + more, 1);
}

// AttentionPlot: colours and forms of lines, stems and bars.

void AttentionPlot::StyleLines() {
  std::vector<QCPGraph*> lines = {graph_a_, graph_b_, difference_};
  lines.insert(lines.end(), other_graphs_.begin(), other_graphs_.end());
  for (QCPGraph* line : lines) {
    const bool steps = line->data()->size() < kMostSteps;
    line->setLineStyle(stems_  ? QCPGraph::lsImpulse
                       : steps ? QCPGraph::lsStepCenter
                               : QCPGraph::lsLine);
  }
}

void AttentionPlot::StyleBars(QCPGraph* sums) const {
  if (!shows_sums_) {
    sums->setBrush(Qt::NoBrush);
    return;
  }
  // B of a pinned head has the colour of A, and lighter bars.
  constexpr int kFull = 190;
  constexpr int kLight = 50;
  QColor fill = sums->pen().color();
  fill.setAlpha(sums->pen().style() == Qt::SolidLine ? kFull : kLight);
  sums->setBrush(fill);
  sums->setPen(QPen(sums->pen().color(), 1));
}

void AttentionPlot::RestyleData() {
  const QColor text = palette().color(QPalette::Text);
  // If there are several heads, each has a colour; an unpinned selected head has the text colour.
  const bool several = !others_.empty() || head_color_.isValid();
  const QColor own = head_color_.isValid() ? head_color_ : text;
  const auto pen = [&](Side side) {
    const bool dashed = several && side == Side::kB;
    // The stems of B are drawn over those of A.
    const double width = !stems_ ? 1.4 : side == Side::kA ? 5 : 2;
    return LinePen(several ? own : SideColor(side), width, dashed ? Qt::DashLine : Qt::SolidLine);
  };
  graph_a_->setPen(older_a_ ? OlderPen(1.2) : pen(Side::kA));
  graph_b_->setPen(older_b_ ? OlderPen(1.2) : pen(Side::kB));
  difference_->setPen(LinePen(own, 1.4));
  for (const auto& [sums, line] : {std::pair(sums_a_, graph_a_), std::pair(sums_b_, graph_b_)}) {
    sums->setPen(QPen(line->pen().color(), 3, line->pen().style(), Qt::FlatCap));
    const QString side = sums == sums_a_ ? tr("A") : tr("B");
    sums->setName(shows_sums_ ? line->name() : tr("%1: sum of each passage").arg(side));
    StyleBars(sums);
  }
  for (size_t i = 0; i < other_graphs_.size(); ++i) {
    other_graphs_[i]->setPen(
        LinePen(others_[i / 2].color, 1.4, i % 2 == 0 ? Qt::SolidLine : Qt::DashLine));
    other_sums_[i]->setPen(other_graphs_[i]->pen());
    StyleBars(other_sums_[i]);
  }
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
  QColor faint = text;
  faint.setAlpha(28);
  QColor chosen = palette().color(QPalette::Highlight);
  chosen.setAlpha(70);
  range_shade_->setBrush(chosen);
  hover_shade_->setBrush(faint);
  gold_name_->setColor(text);
  hover_name_->setColor(text);
  QColor line = text;
  line.setAlpha(120);
  marked_->setPen(QPen(line, 1, Qt::DotLine));
}

}  // namespace midscope
