// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/result_file.h"

#include <QObject>

#include "core/base/error.h"
#include "gui/base/display_text.h"
#include "gui/base/write_whole_file.h"
#include "gui/session/session.h"

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

namespace {

ResultOpener::ReplyPointer Read(const ResultFiles& files, const QString& path) {
  auto reply = std::make_shared<ResultOpener::Reply>();
  reply->path = path;
  reply->failure = ErrorText([&] {
    reply->samples = files.View(path.toStdString());
    reply->view = ViewOfFile(reply->samples->overview(), path);
    // Computes the series here, off the window's thread; the view caches them and the window needs
    // them first.
    for (const Measure measure : {Measure::kNll, Measure::kAccuracy})
      reply->view->FileSeries(measure);
  });
  return reply;
}

}  // namespace

ResultOpener::ResultOpener(const ResultFiles& files, QObject* parent)
    : QObject(parent),
      thread_([this, files](const QString& path) { Q_EMIT Opened(Read(files, path)); }) {
  qRegisterMetaType<ReplyPointer>("midscope::ResultOpener::ReplyPointer");
}

}  // namespace midscope
