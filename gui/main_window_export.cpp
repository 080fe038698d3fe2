// SPDX-License-Identifier: GPL-3.0-or-later
// MainWindow: export of pictures, which never overwrites files without confirmation.
#include <QDir>
#include <QFileInfo>
#include <QMessageBox>
#include <QStatusBar>

#include "core/base/error.h"
#include "gui/main_window.h"
#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_picture.h"
#include "gui/session/session.h"
#include "gui/widgets/error_bar.h"

namespace midscope {
namespace {

constexpr int kShownMilliseconds = 8000;
constexpr qsizetype kMostNamed = 5;

// Names of the files that already exist in the folder.
QStringList Present(const QString& folder, const QString& stem, QStringList endings) {
  QStringList present;
  endings << QStringLiteral("csv");
  for (const QString& ending : endings) {
    const QString name = stem + QLatin1Char('.') + ending;
    if (QFileInfo::exists(QDir(folder).filePath(name))) present << name;
  }
  return present;
}

QString Named(const QStringList& files) {
  QString names = files.mid(0, kMostNamed).join(QStringLiteral(", "));
  if (files.size() > kMostNamed)
    names += QObject::tr(" and %1 more").arg(files.size() - kMostNamed);
  return names;
}

void RefuseIfPresent(const QString& folder, const QStringList& files) {
  if (files.isEmpty()) return;
  throw UsageError("export into '" + folder.toStdString() + "'",
                   "it has " + Named(files).toStdString() + " already",
                   "Give another name, or overwrite them with the action export-over");
}

QStringList PresentOf(const std::vector<Plot*>& plots, const QString& folder) {
  QStringList present;
  for (const Plot* plot : plots) present += Present(folder, plot->file_stem(), PlotFormats());
  return present;
}

}  // namespace

void MainWindow::ExportTo(const QString& folder, bool overwrite) {
  session_->FlushChanges();
  errors_->Try(
      [this, &folder, overwrite] {
        const std::vector<Plot*> all = plots();
        if (!overwrite) RefuseIfPresent(folder, PresentOf(all, folder));
        QStringList written;
        for (Plot* plot : all)
          written += WritePlotFiles(*plot, folder, plot->file_stem(), PlotFormats(), kTwoColumns);
        statusBar()->showMessage(tr("%1 files written to %2").arg(written.size()).arg(folder),
                                 kShownMilliseconds);
      },
      QStringLiteral("export"));
}

void MainWindow::AskExportTo(const QString& folder) {
  session_->FlushChanges();
  const QStringList present = PresentOf(plots(), folder);
  if (!present.isEmpty()) {
    const auto answer = QMessageBox::question(
        this, tr("Export plots"), tr("%1 has %2 already. Overwrite?").arg(folder, Named(present)));
    if (answer != QMessageBox::Yes) return;
  }
  ExportTo(folder, true);
}

void MainWindow::ExportPlot(Plot& plot, const QString& path, bool overwrite) {
  const QFileInfo file(path);
  const QString format = file.suffix().toLower();
  if (!PlotFormats().contains(format)) {
    throw UsageError("'" + path.toStdString() + "'", "no picture has that ending",
                     "Use ." + PlotFormats().join(QStringLiteral(", .")).toStdString());
  }
  session_->FlushChanges();
  if (!overwrite)
    RefuseIfPresent(file.path(), Present(file.path(), file.completeBaseName(), {format}));
  WritePlotFiles(plot, file.path(), file.completeBaseName(), {format}, kTwoColumns);
  statusBar()->showMessage(tr("%1 written, its numbers beside it").arg(path), kShownMilliseconds);
}

}  // namespace midscope
