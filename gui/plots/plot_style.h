// SPDX-License-Identifier: GPL-3.0-or-later
// Colours that mean the same in every view: Viridis for values >= 0, blue (more) and red (less)
// about exact zero for differences, one colour each for A and B, yellow for the gold passage.
#pragma once

#include "gui/plots/custom_plot.h"

#include <QColor>
#include <QPalette>

#include "gui/base/view_types.h"

namespace midscope {

QCPColorGradient ViridisGradient();
QCPColorGradient DifferenceGradient();
// What a cell without a value (NaN) is filled with.
QColor NoValueColor();

QColor SideColor(Side side);
QColor GoldColor();
// Of a line that is not of what is asked: grey, dotted.
QPen OlderPen(double width);

// Background, text, axes and grid of a plot out of the palette, so that dark and light both read.
void ApplyPalette(QCustomPlot* plot, const QPalette& palette);
// The palette of rendered files: light, whatever the desktop uses.
QPalette LightPalette();

}  // namespace midscope
