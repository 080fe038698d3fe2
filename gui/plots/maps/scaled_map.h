// SPDX-License-Identifier: GPL-3.0-or-later
// A colour map together with its colour scale.
#pragma once

#include "gui/plots/custom_plot.h"

namespace midscope {

struct ScaledMap {
  QCPColorMap* map;
  QCPColorScale* scale;  // as high as the axes; the plot positions it
};
// Makes a map without interpolation on the plot's default axes.
ScaledMap MakeScaledMap(QCustomPlot* plot);

// Sets the number of cells; their coordinates are their indices. QCustomPlot draws nothing for a
// range of width 0, so a single column or row gets a range of one cell.
void SetCells(QCPColorMap* map, int columns, int rows);

}  // namespace midscope
