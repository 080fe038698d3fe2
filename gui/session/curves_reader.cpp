// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/curves_reader.h"

#include <string>
#include <utility>

#include "core/base/job.h"

namespace midscope {

CurvesReader::CurvesReader(const ResultFiles& files)
    : files_(files),
      cancel_(std::make_shared<std::atomic<bool>>(false)),
      thread_([this](const Request& request) { Read(request); }) {
  qRegisterMetaType<ReplyPointer>("midscope::CurvesReader::ReplyPointer");
}

CurvesReader::~CurvesReader() { *cancel_ = true; }

void CurvesReader::Ask(const QStringList& paths) {
  *cancel_ = true;
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  thread_.Ask({paths, cancel_});
}

void CurvesReader::Read(const Request& request) {
  JobContext context;
  context.cancel = request.cancel.get();
  auto reply = std::make_shared<Reply>();
  reply->paths = request.paths;
  const JobOutcome outcome = RunJob(context, [&](const JobContext& job) {
    std::vector<std::string> given;
    given.reserve(static_cast<size_t>(request.paths.size()));
    for (const QString& path : request.paths) given.push_back(path.toStdString());
    reply->curves = files_.Curves(given, job);
  });
  if (outcome.end == JobEnd::kCancelled) return;
  if (outcome.end == JobEnd::kFailed) reply->failure = QString::fromStdString(outcome.why);
  Q_EMIT Replied(std::move(reply));
}

}  // namespace midscope
