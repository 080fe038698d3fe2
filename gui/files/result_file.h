// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the records on the screen to a results file, and opens such files.
#pragma once

#include <memory>

#include <QObject>
#include <QString>

#include "gui/base/newest_request.h"
#include "gui/session/session_view.h"
#include "probes/client/result_files.h"

namespace midscope {

class Session;

// Writes all records of the requested settings to an HDF5 file of this machine, each with the
// setting, prompt and model that made it. Returns a sentence that names the records omitted because
// they are of a previous setting; "" if there are none. Throws Error if the file cannot be written.
QString SaveResults(const Session& session, const QString& path);

// Opens results files of the engine's machine on its own thread, because checksums of large files
// take seconds, and means over 100,000 samples tens of milliseconds.

class ResultOpener : public QObject {
  Q_OBJECT

 public:
  struct Reply {
    QString path;
    std::unique_ptr<SessionView> view;  // null if it could not be opened
    std::shared_ptr<const RemoteSampleView> samples;
    QString failure;  // empty: none
  };
  using ReplyPointer = std::shared_ptr<Reply>;

  explicit ResultOpener(const ResultFiles& files, QObject* parent = nullptr);

  // A newer path supersedes a waiting one; a file whose reading has begun is still delivered.
  void Open(const QString& path) { thread_.Ask(path); }

 Q_SIGNALS:
  // Emitted on the opener's thread.
  void Opened(midscope::ResultOpener::ReplyPointer reply);

 private:
  NewestRequest<QString> thread_;
};

}  // namespace midscope
