// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/curve_labels.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "gui/plots/wrapped_text.h"

namespace midscope {
namespace {

constexpr size_t kMostCurves = 4;
constexpr double kWidest = 0.28;   // of the plot's width
constexpr double kHighest = 0.45;  // all labels together, of the plot's height
constexpr int kEndGap = 6;         // pixels between a line and its label
constexpr int kUsualMargin = 15;   // of QCPAxisRect
constexpr int kDarker = 125;       // per cent, for text on a light background

// The value of the last visible point; nullopt if no point is visible.
std::optional<double> LastValue(const QCPGraph& graph) {
  const QCPRange shown = graph.keyAxis()->range();
  const auto begin = graph.data()->findBegin(shown.lower, false);
  auto point = graph.data()->findEnd(shown.upper, false);
  while (point != begin) {
    --point;
    if (std::isfinite(point->value)) return point->value;
  }
  return std::nullopt;
}

}  // namespace

CurveLabels::CurveLabels(QCustomPlot* plot, int row) : plot_(plot), row_(row) {
  for (size_t i = 0; i < kMostCurves; ++i) {
    auto* item = new QCPItemText(plot);
    item->setClipToAxisRect(false);
    item->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    item->setTextAlignment(Qt::AlignLeft);
    item->position->setType(QCPItemPosition::ptAbsolute);
    item->setVisible(false);
    items_.push_back(item);
  }
}

std::vector<const QCPGraph*> CurveLabels::Curves() const {
  std::vector<const QCPGraph*> curves;
  for (int i = 0; i < plot_->legend->itemCount(); ++i) {
    auto* item = qobject_cast<QCPPlottableLegendItem*>(plot_->legend->item(i));
    const auto* graph = item ? qobject_cast<const QCPGraph*>(item->plottable()) : nullptr;
    if (!graph) return {};
    if (graph->visible()) curves.push_back(graph);
  }
  return curves;
}

void CurveLabels::ShowLegend(bool shown) {
  const bool placed = plot_->legend->layout() != nullptr;
  plot_->legend->setVisible(shown);
  if (shown && !placed) plot_->plotLayout()->addElement(row_, 0, plot_->legend);
  if (!shown && placed) plot_->plotLayout()->take(plot_->legend);
}

void CurveLabels::Fit() {
  labels_.clear();
  for (QCPItemText* item : items_) item->setVisible(false);
  const std::vector<const QCPGraph*> curves = Curves();
  const QRect all = plot_->viewport();
  const QFont font = plot_->font();
  const QFontMetrics metrics(font);
  const bool light = plot_->palette().color(QPalette::Base).lightnessF() > 0.5;
  double height = 0;
  int widest = 0;
  for (size_t i = 0; i < std::min(curves.size(), items_.size()); ++i) {
    QCPItemText* item = items_[i];
    const QColor color = curves[i]->pen().color();
    item->setFont(font);
    item->setColor(QColor(color.rgb()).darker(light ? kDarker : 100));
    item->setText(Wrapped(curves[i]->name(), metrics, static_cast<int>(kWidest * all.width())));
    const QSize size = metrics.boundingRect(QRect(), Qt::TextDontClip, item->text()).size();
    widest = std::max(widest, size.width());
    height += size.height();
    labels_.push_back({item, curves[i], static_cast<double>(size.height()), 0});
  }
  if (curves.size() > kMostCurves || height > kHighest * all.height()) labels_.clear();
  ShowLegend(labels_.empty());
  const int right = labels_.empty() ? kUsualMargin : widest + 2 * kEndGap;
  plot_->axisRect()->setMinimumMargins(QMargins(kUsualMargin, kUsualMargin, right, kUsualMargin));
}

// Labels are moved apart downwards, and back upwards if the last one leaves the axes.
void CurveLabels::Place() {
  const QRect axes = plot_->axisRect()->rect();
  std::vector<Label*> order;
  for (Label& label : labels_) {
    const std::optional<double> value = LastValue(*label.graph);
    label.text->setVisible(value.has_value());
    if (!value) continue;
    const double wanted = label.graph->valueAxis()->coordToPixel(*value);
    label.y = std::clamp(wanted, axes.top() + label.height / 2,
                         std::max(axes.top() + label.height / 2, axes.bottom() - label.height / 2));
    order.push_back(&label);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Label* left, const Label* right) { return left->y < right->y; });
  const auto apart = [](const Label& upper, const Label& lower) {
    return (upper.height + lower.height) / 2;
  };
  for (size_t i = 1; i < order.size(); ++i)
    order[i]->y = std::max(order[i]->y, order[i - 1]->y + apart(*order[i - 1], *order[i]));
  if (!order.empty())
    order.back()->y = std::min(order.back()->y, axes.bottom() - order.back()->height / 2);
  for (size_t i = order.size(); i > 1; --i) {
    order[i - 2]->y =
        std::min(order[i - 2]->y, order[i - 1]->y - apart(*order[i - 2], *order[i - 1]));
  }
  for (const Label* label : order)
    label->text->position->setPixelPosition({axes.right() + double{kEndGap}, label->y});
}

std::vector<const QCPItemText*> CurveLabels::shown() const {
  std::vector<const QCPItemText*> shown;
  for (const Label& label : labels_) {
    if (label.text->visible()) shown.push_back(label.text);
  }
  return shown;
}

}  // namespace midscope
