// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/report_process.h"

#include "core/base/error.h"
#include "probes/client/engine_command.h"

namespace midscope {

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
  if (process_.state() != QProcess::NotRunning)
    throw Failure("report '" + path.toStdString() + "'", "another one is being written");
  path_ = path;
  process_.start(QString::fromStdString(FindEngineProgram()),
                 {QStringLiteral("report"), results, QStringLiteral("--out"), path,
                  QStringLiteral("--overwrite")});
}

QString ReportProcess::TemporaryResults() {
  folder_ = std::make_unique<QTemporaryDir>();
  return folder_->filePath(QStringLiteral("screen.h5"));
}

}  // namespace midscope
