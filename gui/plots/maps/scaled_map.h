// SPDX-License-Identifier: GPL-3.0-or-later
// A colour map with its colour scale.
#pragma once

#include "gui/plots/custom_plot.h"

namespace midscope {

struct ScaledMap {
  QCPColorMap* map;
  QCPColorScale* scale;  // as high as the axes; the plot places it
};
// On the plot's own axes, without interpolation.
ScaledMap MakeScaledMap(QCustomPlot* plot);

// Gives the map this many cells, whose coordinates are their indices. QCustomPlot draws nothing
// over a range of no width, so a single column or row has the range of its one cell.
void SetCells(QCPColorMap* map, int columns, int rows);

}  // namespace midscope
