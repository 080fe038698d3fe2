// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/maps/scaled_map.h"

namespace midscope {

ScaledMap MakeScaledMap(QCustomPlot* plot) {
  auto* map = new QCPColorMap(plot->xAxis, plot->yAxis);
  map->setInterpolate(false);
  map->setTightBoundary(false);
  auto* scale = new QCPColorScale(plot);
  scale->setType(QCPAxis::atRight);
  scale->setBarWidth(12);
  scale->setRangeDrag(false);
  scale->setRangeZoom(false);
  scale->axis()->setTickLabelFont(plot->font());
  scale->axis()->setLabelFont(plot->font());
  map->setColorScale(scale);
  auto* group = new QCPMarginGroup(plot);
  const QCP::MarginSides sides = {QCP::msBottom, QCP::msTop};
  plot->axisRect()->setMarginGroup(sides, group);
  scale->setMarginGroup(sides, group);
  return {map, scale};
}

void SetCells(QCPColorMap* map, int columns, int rows) {
  map->data()->setSize(columns, rows);
  const auto range = [](int cells) {
    return cells == 1 ? QCPRange(-0.5, 0.5) : QCPRange(0, cells - 1);
  };
  if (columns > 0 && rows > 0) map->data()->setRange(range(columns), range(rows));
}

}  // namespace midscope
