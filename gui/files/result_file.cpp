// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/result_file.h"

#include <QObject>

#include "core/base/error.h"
#include "gui/base/display_text.h"
#include "gui/base/write_whole_file.h"
#include "gui/session/session.h"
#include "probes/client/engine_command.h"

namespace midscope {

QString SaveResults(const Session& session, const QString& path) {
  const Session::ScreenRecords screen = session.RecordsOnScreen();
  if (screen.records.empty()) {
    throw UsageError("results", "there are none yet", "Open a model and run it first");
  }
  WriteWholeFile("results", path,
                 session.files_of_engine().FileOf(screen.records, session.provenance()));
  if (screen.left_out.isEmpty()) return {};
  return QObject::tr(
             "'%1': records of other settings than the requested ones were left out (%2). Save "
             "again when the run is done, or return to the previous setting")
      .arg(path, screen.left_out.join(QStringLiteral("; ")));
}

OpenedResults ReadResults(const ResultFiles& files, const QString& path) {
  OpenedResults opened;
  opened.samples = files.View(path.toStdString());
  opened.view = ViewOfFile(opened.samples->overview(), path);
  // Computes the series here, off the window's thread; the view caches them and the window needs
  // them first.
  for (const Measure measure : {Measure::kNll, Measure::kAccuracy})
    opened.view->FileSeries(measure);
  return opened;
}

ReportProcess::ReportProcess(QObject* parent) : QObject(parent) {
  connect(&process_, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    if (status == QProcess::NormalExit && code == 0) return Written(path_);
    const QString said = QString::fromUtf8(process_.readAllStandardError()).trimmed();
    Q_EMIT Failed(said.isEmpty() ? tr("report '%1': the program ended").arg(path_) : said);
  });
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart)
      Q_EMIT Failed(tr("report '%1': %2").arg(path_, process_.errorString()));
  });
}

ReportProcess::~ReportProcess() {
  process_.disconnect(this);
  process_.kill();
  process_.waitForFinished();
}

void ReportProcess::Start(const QString& results, const QString& path) {
  RequireIdle();
  path_ = path;
  process_.start(QString::fromStdString(FindEngineProgram()),
                 {QStringLiteral("report"), results, QStringLiteral("--out"), path,
                  QStringLiteral("--overwrite")});
}

void ReportProcess::RequireIdle() const {
  if (process_.state() != QProcess::NotRunning)
    throw Failure("report '" + path_.toStdString() + "'", "it is still being written",
                  "Write another report when it is done");
}

QString ReportProcess::TemporaryResults() {
  RequireIdle();
  folder_ = std::make_unique<QTemporaryDir>();
  return folder_->filePath(QStringLiteral("screen.h5"));
}

}  // namespace midscope
