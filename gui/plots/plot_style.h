// SPDX-License-Identifier: GPL-3.0-or-later
// Colours with one meaning in all views: Viridis for values >= 0, blue (more) and red (less) around
// exact zero for differences, fixed colours for A and B, yellow for the gold passage.
#pragma once

#include <QColor>
#include <QFontMetrics>
#include <QPalette>
#include <QString>
#include <QVector>
#include <algorithm>
#include <cmath>

#include "gui/base/view_types.h"
#include "gui/plots/custom_plot.h"

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

// Breaks texts of plots into lines.

// Breaks the text into lines of at most `width` pixels: between words, else after punctuation as in
// long settings, else anywhere.
QString Wrapped(const QString& text, const QFontMetrics& metrics, int width);

// Comparisons to decide whether the drawn numbers have changed.

// As ==, except that NaN (no value) equals NaN.
inline bool SameNumber(double left, double right) {
  return left == right || (std::isnan(left) && std::isnan(right));
}

inline bool SameNumbers(const QVector<double>& left, const QVector<double>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), SameNumber);
}

// A colour map together with its colour scale.

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
