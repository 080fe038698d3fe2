// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the records on the screen to a results file, and opens such files.
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>
#include <QTemporaryDir>
#include <memory>

#include "gui/session/session_view.h"
#include "probes/client/result_files.h"

namespace midscope {

class Session;

// Writes all records of the requested settings to an HDF5 file of this machine, each with the
// setting, prompt and model that made it. Returns a sentence that names the records omitted because
// they are of a previous setting; "" if there are none. Throws Error if the file cannot be written.
QString SaveResults(const Session& session, const QString& path);

struct OpenedResults {
  std::unique_ptr<SessionView> view;  // null if it could not be opened
  std::shared_ptr<const RemoteSampleView> samples;
  QString failure;  // empty: none
};

// Reads a results file of the engine's machine. On a thread of its own (base/newest_reply.h),
// because checksums of large files take seconds, and means over 100,000 samples tens of
// milliseconds.
OpenedResults ReadResults(const ResultFiles& files, const QString& path);

// Runs `midscope report` for a results file, beside the window.
class ReportProcess : public QObject {
  Q_OBJECT

 public:
  explicit ReportProcess(QObject* parent = nullptr);
  // Ends a report that is being written.
  ~ReportProcess() override;

  // Writes the report of `results` to `path` by `midscope report`, replacing an existing file.
  // Throws Error if the program is not found, or another report is being written.
  void Start(const QString& results, const QString& path);
  bool runs() const { return process_.state() != QProcess::NotRunning; }
  // A path for a results file that exists until the next report. Throws Error if one is being
  // written, which may read the previous path.
  QString TemporaryResults();

 Q_SIGNALS:
  void Written(const QString& path);
  void Failed(const QString& why);

 private:
  void RequireIdle() const;

  QProcess process_;
  QString path_;
  std::unique_ptr<QTemporaryDir> folder_;
};

}  // namespace midscope
