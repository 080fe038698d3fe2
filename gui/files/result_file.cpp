// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/result_file.h"

#include <QObject>

#include "core/base/error.h"
#include "data/store/run_store.h"
#include "gui/session/session.h"

namespace midscope {

QString SaveResults(const Session& session, const QString& path) {
  const Session::ScreenRecords screen = session.RecordsOnScreen();
  if (screen.records.empty()) {
    throw UsageError("results", "there are none yet", "Open a model and run it first");
  }
  WriteOptions options;
  options.overwrite = true;  // the file dialog has asked for confirmation
  WriteRecords(path.toStdString(), screen.records, session.provenance(), options);
  if (screen.left_out.isEmpty()) return {};
  return QObject::tr(
             "'%1': records of other settings than the requested ones were left out (%2). Save "
             "again when the run is done, or return to the previous setting")
      .arg(path, screen.left_out.join(QStringLiteral("; ")));
}

}  // namespace midscope
