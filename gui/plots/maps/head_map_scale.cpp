// SPDX-License-Identifier: GPL-3.0-or-later
// HeadMapPlot: the colour scale.
#include <QMap>
#include <algorithm>
#include <cmath>

#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

// A gradient that is blue above and red below `centre`, which need not be in the middle of the
// range.
QCPColorGradient GradientAbout(double centre, const QCPRange& range) {
  QCPColorGradient gradient = DifferenceGradient();
  const double middle = (centre - range.lower) / range.size();
  if (!(middle > 0 && middle < 1)) return gradient;
  const QMap<double, QColor> even = gradient.colorStops();
  QMap<double, QColor> stops;
  for (auto stop = even.begin(); stop != even.end(); ++stop) {
    const double from_middle = 2 * stop.key() - 1;  // -1 to 1
    stops[middle + from_middle * (from_middle < 0 ? middle : 1 - middle)] = stop.value();
  }
  gradient.setColorStops(stops);
  return gradient;
}

}  // namespace

// Visible on Viridis and on the near-white colours of differences.
QPen HeadMapPlot::GroupPen() const {
  return {drawn_.diverging ? QColor(90, 90, 90, 130) : QColor(255, 255, 255, 150), 1};
}

QString HeadMapPlot::scale_label() const {
  const QCPRange range = map_->dataRange();
  const auto& values = drawn_.table.values;
  const auto above = std::count_if(values.begin(), values.end(),
                                   [&](double value) { return value > range.upper; });
  const auto below = std::count_if(values.begin(), values.end(),
                                   [&](double value) { return value < range.lower; });
  QString label = drawn_.scale;
  if (above > 0) label += tr("  ▲ %1 beyond").arg(above);
  if (below > 0) label += tr("  ▼ %1 below").arg(below);
  return label;
}

void HeadMapPlot::ShowScaleLabel(bool shown) {
  if (shown == scale_label_shown_) return;
  scale_label_shown_ = shown;
  SetScale();
  QueueReplot();
}

void HeadMapPlot::ShowScale(bool shown) {
  if (scale_->visible() == shown) return;
  scale_->setVisible(shown);
  if (shown) {
    plotLayout()->addElement(1, 1, scale_);
  } else {
    plotLayout()->take(scale_);
    plotLayout()->simplify();
  }
  QueueReplot();
}

std::optional<QCPRange> HeadMapPlot::RangeOf(const std::vector<const HeadTable*>& tables,
                                             bool diverging, double centre) {
  std::optional<QCPRange> range;
  for (const HeadTable* table : tables) {
    for (const double value : table->values) {
      if (!std::isfinite(value)) continue;
      if (!range) range = QCPRange(value, value);
      range->expand(value);
    }
  }
  if (!range) return range;
  if (diverging) {
    const double extent =
        std::max({std::abs(range->lower - centre), std::abs(range->upper - centre), 1e-6});
    return QCPRange(centre - extent, centre + extent);
  }
  range->lower = std::min(range->lower, 0.0);
  if (range->size() <= 0) range->upper = range->lower + 1;
  return range;
}

void HeadMapPlot::SetScale() {
  const std::optional<QCPRange> own =
      drawn_.range ? drawn_.range : RangeOf({&drawn_.table}, drawn_.diverging, drawn_.centre);
  const QCPRange range = own.value_or(QCPRange(0, 1));
  map_->setGradient(drawn_.diverging ? GradientAbout(drawn_.centre, range) : ViridisGradient());
  map_->setDataRange(range);
  scale_->setLabel(scale_label_shown_ ? scale_label() : QString());
  SetPictureLabel(scale_->axis(), scale_label());
  for (QCPItemLine* line : group_lines_) line->setPen(GroupPen());
}

}  // namespace midscope
