// SPDX-License-Identifier: GPL-3.0-or-later
// Reads files of sweeps for curves on a thread of its own: their statistics take seconds. A newer
// request supersedes a waiting one and ends the one that runs.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <atomic>
#include <memory>
#include <vector>

#include "gui/base/newest_request.h"
#include "probes/sweep/outcome_curves.h"

namespace midscope {

class CurvesReader : public QObject {
  Q_OBJECT

 public:
  struct Reply {
    QStringList paths;  // as requested
    std::vector<CurveInput> inputs;
    QString failure;  // empty: none
  };
  using ReplyPointer = std::shared_ptr<const Reply>;

  CurvesReader();
  ~CurvesReader() override;

  // Files, and folders whose sweeps are read.
  void Ask(const QStringList& paths);

 Q_SIGNALS:
  // Emitted on the reader's thread; not for a request that was superseded.
  void Replied(midscope::CurvesReader::ReplyPointer reply);

 private:
  struct Request {
    QStringList paths;
    std::shared_ptr<std::atomic<bool>> cancel;
  };
  void Read(const Request& request);

  std::shared_ptr<std::atomic<bool>> cancel_;  // of the newest request
  NewestRequest<Request> thread_;
};

}  // namespace midscope
