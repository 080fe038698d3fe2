// SPDX-License-Identifier: GPL-3.0-or-later
// A map of colours with the scale that says what they mean.
#pragma once

#include "gui/plots/custom_plot.h"

namespace midscope {

struct ScaledMap {
  QCPColorMap* map;
  QCPColorScale* scale;  // as high as the axes; the plot places it
};
// On the plot's own axes, without interpolation.
ScaledMap MakeScaledMap(QCustomPlot* plot);

}  // namespace midscope
