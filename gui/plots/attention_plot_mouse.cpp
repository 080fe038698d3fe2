// SPDX-License-Identifier: GPL-3.0-or-later
// AttentionPlot: tooltips, clicks and hovering.
#include <algorithm>
#include <cmath>

#include "gui/base/record_access.h"
#include "gui/plots/attention_plot.h"

namespace midscope {

int64_t AttentionPlot::KeyAt(const QPointF& position) const {
  if (!axisRect()->rect().contains(position.toPoint())) return -1;
  const int64_t key = std::llround(xAxis->pixelToCoord(position.x()));
  const int64_t keys = std::max(row_a_.size(), row_b_.size());
  return key >= 0 && key < keys ? key : -1;
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
  for (const HeadRow& other : others_) {
    const QString values = OtherText(other, key);
    if (!values.isEmpty()) tip += QStringLiteral("\n%1: %2").arg(other.name, values);
  }
  if (shows_sums_) tip += SumsText(key);
  return tip;
}

// Returns "A 0.12, B 0.3" of another head at a token; "" if it has no row.
QString AttentionPlot::OtherText(const HeadRow& other, int64_t key) {
  QStringList values;
  if (key < other.row_a.size()) values << tr("A %1").arg(other.row_a[key], 0, 'g', 4);
  if (key < other.row_b.size()) values << tr("B %1").arg(other.row_b[key], 0, 'g', 4);
  return values.join(QStringLiteral(", "));
}

// The sums over the passage that has a bar at this token.
QString AttentionPlot::SumsText(int64_t key) const {
  const std::vector<TokenSpan> spans = BarSpans(std::max(row_a_.size(), row_b_.size()));
  const auto passage = std::find_if(spans.begin(), spans.end(), [key](const auto& span) {
    return key >= span.begin && key < span.end;
  });
  if (passage == spans.end()) return {};
  const auto sum = [&passage](const QVector<double>& row) {
    double total = 0;
    for (int64_t at = passage->begin; at < std::min<int64_t>(passage->end, row.size()); ++at)
      total += row[at];
    return total;
  };
  QString text = (passage->name.empty() ? tr("\nsum of the tokens outside passages: A %1")
                                        : tr("\nsum of the passage: A %1"))
                     .arg(sum(row_a_), 0, 'g', 4);
  if (!row_b_.isEmpty()) text += tr(", B %1").arg(sum(row_b_), 0, 'g', 4);
  return text;
}

// The marked token.
std::optional<QPointF> AttentionPlot::CurrentPoint() const {
  if (!marked_->visible()) return std::nullopt;
  return QPointF(xAxis->coordToPixel(marked_->point1->key()), axisRect()->center().y());
}

void AttentionPlot::HoverAt(const QPointF& position) {
  const int64_t key = KeyAt(position);
  const TokenSpan* span = key < 0 ? nullptr : SpanAt(key);
  const TokenSpan shaded = span ? *span : TokenSpan{};
  const bool other_span = shaded != hovered_span_;
  hovered_span_ = shaded;
  PlaceShade(hover_shade_, shaded);
  hover_name_->setVisible(span != nullptr);
  if (span) {
    hover_name_->setText(QString::fromStdString(span->name));
    hover_name_->position->setCoords(static_cast<double>(span->begin + span->end - 1) / 2, 0.07);
  }
  if (other_span) QueueReplot();
  Q_EMIT KeyHovered(key);
}

void AttentionPlot::ClickAt(const QPointF& position) {
  const int64_t key = KeyAt(position);
  if (key >= 0) Q_EMIT KeyClicked(key);
}

void AttentionPlot::Brush(const QPointF& from, const QPointF& to) {
  const qsizetype keys = std::max(row_a_.size(), row_b_.size());
  const auto at = [&](double x) {
    return std::clamp<int64_t>(std::llround(xAxis->pixelToCoord(x)), 0,
                               std::max<int64_t>(keys - 1, 0));
  };
  const auto [first, last] = std::minmax({at(from.x()), at(to.x())});
  if (keys > 0) Q_EMIT RangeBrushed(first, last + 1);
}

void AttentionPlot::HoverEnds() {
  hovered_span_ = {};
  PlaceShade(hover_shade_, {});
  hover_name_->setVisible(false);
  QueueReplot();
  Q_EMIT KeyHovered(-1);
}

}  // namespace midscope
