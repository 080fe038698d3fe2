// SPDX-License-Identifier: GPL-3.0-or-later
// Colours with one meaning in every view: Viridis for values >= 0, blue (more) and red (less)
// around exact zero for differences, one colour each for A and B, yellow for the gold passage.
#pragma once

#include "gui/plots/custom_plot.h"

#include <QColor>
#include <QPalette>

#include "gui/base/view_types.h"

namespace midscope {

QCPColorGradient ViridisGradient();
QCPColorGradient DifferenceGradient();
// The fill of a cell without a value (NaN).
QColor NoValueColor();
// "layer from dark (first) to light (last)": what the colours of many lines say where the legend
// does not name them.
QString ColorOrderText(const QString& lines);

QColor SideColor(Side side);
QColor GoldColor();
// The pen of a line that is not of the requested setting: grey, dotted.
QPen OlderPen(double width);

// Draws a line of a single point as a dot: QCustomPlot draws only what joins two.
void MarkSinglePoint(QCPGraph* line);

// Sets background, text, axes and grid from the palette, for dark and light.
void ApplyPalette(QCustomPlot* plot, const QPalette& palette);
// The palette of rendered files: always light.
QPalette LightPalette();

}  // namespace midscope
