// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/result_file.h"

#include <QObject>

#include "core/base/error.h"
#include "data/store/run_store.h"
#include "gui/base/display_text.h"
#include "gui/session/session.h"

namespace midscope {

QString SaveResults(const Session& session, const QString& path) {
  const Session::ScreenRecords screen = session.RecordsOnScreen();
  if (screen.records.empty()) {
    throw UsageError("results", "there are none yet", "Open a model and run it first");
  }
  WriteOptions options;
  options.overwrite = true;  // the file dialog has confirmed the overwriting
  WriteRecords(path.toStdString(), screen.records, session.provenance(), options);
  if (screen.left_out.isEmpty()) return {};
  return QObject::tr(
             "'%1': records of other settings than the requested ones were left out (%2). Save "
             "again when the run is done, or return to the previous setting")
      .arg(path, screen.left_out.join(QStringLiteral("; ")));
}

namespace {

ResultOpener::ReplyPointer Read(const QString& path) {
  auto reply = std::make_shared<ResultOpener::Reply>();
  reply->path = path;
  reply->failure = ErrorText([&] {
    reply->samples = std::make_shared<const SampleView>(path.toStdString());
    reply->view = ViewOfFile(reply->samples->Overview(), path);
    // Computes the series here, off the window's thread; the view caches them and the window needs
    // them first.
    for (const Measure measure : {Measure::kNll, Measure::kAccuracy})
      reply->view->FileSeries(measure);
  });
  return reply;
}

}  // namespace

ResultOpener::ResultOpener(QObject* parent)
    : QObject(parent), thread_([this](const QString& path) { Q_EMIT Opened(Read(path)); }) {
  qRegisterMetaType<ReplyPointer>("midscope::ResultOpener::ReplyPointer");
}

}  // namespace midscope
