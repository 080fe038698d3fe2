// SPDX-License-Identifier: GPL-3.0-or-later
// Plots as files: PNG by pixels, SVG and PDF as vectors.
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>

namespace midscope {

class Plot;

// The formats that can be written: "png", "svg", "pdf".
const QStringList& PlotFormats();

// Writes one picture of `size` (in points; PNG has two pixels a point). Throws Error (failure) that
// names the file where it can't be written.
void WritePlot(Plot& plot, const QString& path, const QString& format, const QSize& size);

// STEM.FORMAT in the folder for each format. The paths written.
QStringList WritePlotFiles(Plot& plot, const QString& folder, const QString& stem,
                           const QStringList& formats, const QSize& size);

}  // namespace midscope
