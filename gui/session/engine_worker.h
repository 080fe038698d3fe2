// SPDX-License-Identifier: GPL-3.0-or-later
// EngineService (probes/engine/engine_service.h) with replies delivered as Qt signals.
#pragma once

#include <QObject>
#include <chrono>
#include <memory>

#include "gui/base/view_types.h"
#include "probes/engine/engine_service.h"

namespace midscope {

class EngineWorker : public QObject {
  Q_OBJECT

 public:
  using ReplyPointer = EngineService::ReplyPointer;
  using RecordPointer = EngineService::RecordPointer;

  explicit EngineWorker(std::shared_ptr<Engine> engine);
  // Cancels the running request and waits for it.
  ~EngineWorker() override;

  // See the functions of the same names in EngineService.
  quint64 Post(EngineRequest request, Side side = Side::kA);
  void Cancel(RequestKind kind, Side side) { service_->Cancel(kind, side); }
  std::vector<Record> Preview(const PromptRequest& request) const {
    return service_->Preview(request);
  }
  std::shared_ptr<const Engine> engine() const { return service_->engine(); }
  void CancelAll() { service_->CancelAll(); }
  void SetMaxFrameInterval(std::chrono::milliseconds interval) {
    service_->SetMaxFrameInterval(interval);
  }

 Q_SIGNALS:
  // Emitted on the service's thread; connections to receivers in another thread are queued.
  void Replied(midscope::EngineWorker::ReplyPointer reply);
  void Progressed(quint64 ticket, midscope::Progress progress);
  void WhatIfPart(midscope::EngineWorker::ReplyPointer part);
  void Partial(quint64 ticket, midscope::EngineWorker::RecordPointer record);

 private:
  std::unique_ptr<EngineService> service_;
};

}  // namespace midscope
