// SPDX-License-Identifier: GPL-3.0-or-later
// Writes plots as files: PNG in pixels, SVG and PDF as vectors; beside each picture its numbers as
// CSV. All pictures of the program go through WritePlotFiles.
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>

#include "gui/plots/custom_plot.h"

namespace midscope {

class Plot;

// The formats that can be written: "png", "svg", "pdf".
const QStringList& PlotFormats();

// Writes one picture of `size` (in points; PNG has two pixels per point). Throws Error (failure)
// that names the file where it can't be written.
void WritePlot(Plot& plot, const QString& path, const QString& format, const QSize& size);

// The plot's data as CSV: for lines and bars `name,AXIS,AXIS` with `low,high` where there are error
// bars, for a map `AXIS,AXIS,VALUE`, for several `panel,AXIS,AXIS,VALUE`. Above it lines that begin
// with "#" (pandas.read_csv skips them with comment="#"): title, caption, and `comments`.
QString PlotCsv(Plot& plot, const QStringList& comments = {});

// A field of CSV: quoted where it has to be.
QString CsvField(QString text);

// Names of the indices 0, 1, ... along an axis, which its ticks may shorten: the CSV has them.
void SetIndexNames(QCPAxis* axis, const QStringList& names);

// The axis draws its label elided; the CSV has the whole, `full`.
void NoteElided(QCPAxis* axis, const QString& full);
// The label, whole also where it is drawn elided.
QString FullLabel(const QCPAxis& axis);

// Texts of a map's cells, [row, column]: the CSV has them beside the values.
void SetCellTexts(QCPColorMap* map, const QStringList& texts);

// By how much a line is drawn beside its values along x: the CSV has the values.
void SetShownOffset(QCPAbstractPlottable* line, double offset);

// Writes STEM.FORMAT into the folder for each format, and STEM.csv (PlotCsv). Returns the paths
// written, the CSV last.
QStringList WritePlotFiles(Plot& plot, const QString& folder, const QString& stem,
                           const QStringList& formats, const QSize& size,
                           const QStringList& comments = {});

}  // namespace midscope
