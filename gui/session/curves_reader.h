// SPDX-License-Identifier: GPL-3.0-or-later
// Reads sweep files for curves on its own thread, because their statistics take seconds. A newer
// request supersedes a waiting one and cancels the running one.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <atomic>
#include <memory>
#include <vector>

#include "gui/base/newest_request.h"
#include "probes/client/result_files.h"

namespace midscope {

class CurvesReader : public QObject {
  Q_OBJECT

 public:
  struct Reply {
    QStringList paths;  // as requested
    FileCurves curves;
    QString failure;  // empty: none
  };
  using ReplyPointer = std::shared_ptr<const Reply>;

  explicit CurvesReader(const ResultFiles& files);
  ~CurvesReader() override;

  // Requests the curves of these files and of the sweeps in these folders.
  void Ask(const QStringList& paths);

 Q_SIGNALS:
  // Emitted on the reader's thread; not emitted for a superseded request.
  void Replied(midscope::CurvesReader::ReplyPointer reply);

 private:
  struct Request {
    QStringList paths;
    std::shared_ptr<std::atomic<bool>> cancel;
  };
  void Read(const Request& request);

  const ResultFiles files_;
  std::shared_ptr<std::atomic<bool>> cancel_;  // cancel flag of the newest request
  NewestRequest<Request> thread_;
};

}  // namespace midscope
