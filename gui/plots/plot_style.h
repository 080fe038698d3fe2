// SPDX-License-Identifier: GPL-3.0-or-later
// Colours with one meaning in all views: Viridis for values >= 0, blue (more) and red (less) around
// exact zero for differences, fixed colours for A and B, yellow for the gold passage.
#pragma once

#include "gui/plots/custom_plot.h"

#include <QColor>
#include <QPalette>

#include "gui/base/view_types.h"

namespace midscope {

QCPColorGradient ViridisGradient();
QCPColorGradient DifferenceGradient();
// The fill colour of a cell without a value (NaN).
QColor NoValueColor();
// Explains the colours of many lines that the legend does not name: "layer from dark (first) to
// light (last)".
QString ColorOrderText(const QString& lines);

QColor SideColor(Side side);
QColor GoldColor();
// The pen of a line that is not of the requested setting: grey and dotted.
QPen OlderPen(double width);

// Draws a line with a single point as a dot, because QCustomPlot draws only segments between two
// points.
void MarkSinglePoint(QCPGraph* line);

// Sets background, text, axes and grid from the palette, light or dark.
void ApplyPalette(QCustomPlot* plot, const QPalette& palette);
// The palette of exported files, which is always light.
QPalette LightPalette();

}  // namespace midscope
