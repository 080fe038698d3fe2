// SPDX-License-Identifier: GPL-3.0-or-later
// AttentionPlot: drawing the prompt's passages as shaded areas and as sums.
#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/record_names.h"
#include "gui/base/head_quantities.h"
#include "gui/base/record_access.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/tokens/token_scale.h"

namespace midscope {
namespace {

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
  if (prompt && before != tokens_) ReleaseView();  // between two prompts there may be no prompt
  PlaceShade(gold_shade_, gold_);
  PlaceShade(hover_shade_, {});
  hover_name_->setVisible(false);
  gold_name_->setVisible(!gold_.empty());
  gold_name_->setText(tr("gold"));
  gold_name_->position->setCoords(static_cast<double>(gold_.begin + gold_.end - 1) / 2, 0.01);
  QueueReplot();
}

// Fills a graph with one horizontal line per passage and gaps between them.
void AttentionPlot::FillSums(QCPGraph* graph, const QVector<double>& row) const {
  QVector<QCPGraphData> points;
  const auto keys = static_cast<int64_t>(row.size());
  // One passage could not be compared with others, and for few tokens the weights are visible
  // individually.
  const bool drawn = keys >= kMostSteps && passages_.size() > 1;
  for (const TokenSpan& passage : passages_) {
    if (!drawn || passage.begin < 0 || passage.end > keys) continue;
    double sum = 0;
    for (int64_t key = passage.begin; key < passage.end; ++key) sum += row[key];
    const double begin = static_cast<double>(passage.begin) - 0.5;
    const double end = static_cast<double>(passage.end) - 0.5;
    points << QCPGraphData(begin, sum) << QCPGraphData(end, sum)
           << QCPGraphData(end, std::numeric_limits<double>::quiet_NaN());
  }
  graph->data()->set(points, false);
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

}  // namespace midscope
