// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/result_file.h"

#include "core/error.h"
#include "data/run_store.h"
#include "gui/session.h"

namespace midscope {

void SaveResults(const Session& session, const QString& path) {
  const std::vector<Record> records = session.RecordsOnScreen();
  if (records.empty()) {
    throw UsageError("results", "there are none yet", "Open a model and run it first");
  }
  WriteOptions options;
  options.overwrite = true;  // the file dialog has asked
  WriteRecords(path.toStdString(), records, session.provenance(), options);
}

}  // namespace midscope
