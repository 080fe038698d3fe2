// SPDX-License-Identifier: GPL-3.0-or-later
// AttentionPlot: colours and forms of lines, stems and bars.
#include <utility>
#include <vector>

#include "gui/plots/attention_plot.h"
#include "gui/plots/plot_style.h"

namespace midscope {

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
