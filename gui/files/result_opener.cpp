// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/result_opener.h"

#include "gui/base/error_text.h"

namespace midscope {
namespace {

ResultOpener::ReplyPointer Read(const QString& path) {
  auto reply = std::make_shared<ResultOpener::Reply>();
  reply->path = path;
  reply->failure = ErrorText([&] {
    reply->samples = std::make_shared<const SampleView>(path.toStdString());
    reply->view = ViewOfFile(reply->samples->Overview(), path);
    // Kept by the view: what the window asks for first.
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
