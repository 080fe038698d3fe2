// SPDX-License-Identifier: GPL-3.0-or-later
// Writes plots as files: PNG in pixels, SVG and PDF as vectors.
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>

namespace midscope {

class Plot;

// The formats that can be written: "png", "svg", "pdf".
const QStringList& PlotFormats();

// Writes one picture of `size` (in points; PNG has two pixels per point). Throws Error (failure)
// that names the file where it can't be written.
void WritePlot(Plot& plot, const QString& path, const QString& format, const QSize& size);

// Writes STEM.FORMAT into the folder for each format. Returns the paths written.
QStringList WritePlotFiles(Plot& plot, const QString& folder, const QString& stem,
                           const QStringList& formats, const QSize& size);

}  // namespace midscope
