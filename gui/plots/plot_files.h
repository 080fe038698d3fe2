// SPDX-License-Identifier: GPL-3.0-or-later
// Writes plots to files: PNG, SVG and PDF pictures, each with its numbers as CSV. All pictures that
// the program writes go through WritePlotFiles.
#pragma once

#include <QString>
#include <QStringList>

#include "gui/plots/custom_plot.h"

namespace midscope {

class Plot;

// The supported formats: "png", "svg", "pdf".
const QStringList& PlotFormats();

// Writes one picture of that width on paper (gui/plots/plot_picture.h). Throws Error (failure) with
// the path in the message if it cannot be written.
void WritePlot(Plot& plot, const QString& path, const QString& format, int millimetres);

// The plot's data as CSV. Columns for lines and bars: `name,AXIS,AXIS`, with `low,high` if there
// are error bars; for a map `AXIS,AXIS,VALUE`; for several maps `panel,AXIS,AXIS,VALUE`. Lines
// above it begin with "#" (pandas.read_csv skips them with comment="#") and contain title, caption
// and `comments`.
QString PlotCsv(Plot& plot, const QStringList& comments = {});

// Quotes a CSV field if necessary.
QString CsvField(QString text);

// Sets the names of the indices 0, 1, ... along an axis for the CSV; the ticks of the axis may be
// shorter.
void SetIndexNames(QCPAxis* axis, const QStringList& names);

// Sets the name of the axis in the CSV; without one it is the label.
void SetCsvName(QCPAxis* axis, const QString& name);

// Stores the full label of an axis, which is drawn elided.
void NoteElided(QCPAxis* axis, const QString& full);
// The full label of the axis, even if it is drawn elided.
QString FullLabel(const QCPAxis& axis);
// A label that the axis has in pictures only, because on the screen a plot beside it has it.
void SetPictureLabel(QCPAxis* axis, const QString& label);
QString PictureLabel(const QCPAxis& axis);

// Sets texts for a map's cells [row, column], which the CSV contains in addition to the values.
void SetCellTexts(QCPColorMap* map, const QStringList& texts);

// Stores the offset along x by which a line is drawn beside its true values; the CSV contains the
// true values.
void SetShownOffset(QCPAbstractPlottable* line, double offset);
// Leaves the line out of the CSV while `table` is true: Plot::Table has its numbers.
void SetInTable(QCPAbstractPlottable* line, bool table);

// Writes STEM.FORMAT for each format and STEM.csv (PlotCsv) to the folder. Returns the paths of the
// files, the CSV last.
QStringList WritePlotFiles(Plot& plot, const QString& folder, const QString& stem,
                           const QStringList& formats, int millimetres,
                           const QStringList& comments = {});

// The numbers of a plot in words, for screen readers.

// Returns title, axes, and per line or map its name, number of values, range and largest value;
// then the values at the current point (Plot::CurrentPoint).
QString PlotInWords(const Plot& plot);

// Lets screen readers ask for these words as the description of every plot. They are made on
// request.
void OfferPlotsInWords();
// Notifies screen readers, if there are any, that the words have changed.
void NoteNewWords(Plot* plot);

}  // namespace midscope
