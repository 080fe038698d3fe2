// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/plot_files.h"

#include <QDir>
#include <QFileInfo>
#include <QSvgGenerator>

#include "core/base/error.h"
#include "gui/plots/plot.h"

namespace midscope {
namespace {

constexpr double kPixelsPerPoint = 2;

bool WriteSvg(Plot& plot, const QString& path, const QSize& size) {
  QSvgGenerator generator;
  generator.setFileName(path);
  generator.setSize(size);
  generator.setViewBox(QRect(QPoint(0, 0), size));
  generator.setTitle(plot.title());
  generator.setDescription(plot.caption().isEmpty() ? QStringLiteral("Midscope") : plot.caption());
  QCPPainter painter;
  if (!painter.begin(&generator)) return false;
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  painter.fillRect(QRect(QPoint(0, 0), size), plot.palette().color(QPalette::Base));
  plot.toPainter(&painter, size.width(), size.height());
  return painter.end();
}

}  // namespace

const QStringList& PlotFormats() {
  static const QStringList formats = {QStringLiteral("png"), QStringLiteral("svg"),
                                      QStringLiteral("pdf")};
  return formats;
}

void WritePlot(Plot& plot, const QString& path, const QString& format, const QSize& size) {
  // Hides the captions again on every exit.
  const struct Caption {
    Plot& plot;
    explicit Caption(Plot& captioned) : plot(captioned) { plot.ShowCaption(true); }
    ~Caption() { plot.ShowCaption(false); }
  } caption(plot);
  bool written = false;
  if (format == QLatin1String("png")) {
    written = plot.savePng(path, size.width(), size.height(), kPixelsPerPoint);
  } else if (format == QLatin1String("svg")) {
    written = WriteSvg(plot, path, size);
  } else if (format == QLatin1String("pdf")) {
    written = plot.savePdf(path, size.width(), size.height(), QCP::epAllowCosmetic,
                           QStringLiteral("Midscope"), plot.title());
  } else {
    throw UsageError("picture format '" + format.toStdString() + "'", "not known",
                     "Use " + PlotFormats().join(QStringLiteral(", ")).toStdString());
  }
  if (!written || QFileInfo(path).size() == 0) {
    throw Failure("'" + path.toStdString() + "'", "the picture could not be written",
                  "Check that the folder exists, may be written to and has space left");
  }
}

QStringList WritePlotFiles(Plot& plot, const QString& folder, const QString& stem,
                           const QStringList& formats, const QSize& size) {
  if (!QDir().mkpath(folder)) {
    throw Failure("'" + folder.toStdString() + "'", "the folder could not be made",
                  "Choose a folder that may be written to");
  }
  QStringList paths;
  for (const QString& format : formats) {
    const QString path = QDir(folder).filePath(stem + QLatin1Char('.') + format);
    WritePlot(plot, path, format, size);
    paths << path;
  }
  return paths;
}

}  // namespace midscope
