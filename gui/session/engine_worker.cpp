// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/engine_worker.h"

#include <utility>

namespace midscope {

EngineWorker::EngineWorker(std::shared_ptr<Engine> engine) {
  qRegisterMetaType<ReplyPointer>("midscope::EngineWorker::ReplyPointer");
  qRegisterMetaType<RecordPointer>("midscope::EngineWorker::RecordPointer");
  qRegisterMetaType<Progress>("midscope::Progress");
  EngineService::Listener listener;
  listener.replied = [this](const ReplyPointer& reply) { Q_EMIT Replied(reply); };
  listener.progressed = [this](uint64_t ticket, const Progress& progress) {
    Q_EMIT Progressed(ticket, progress);
  };
  listener.partial = [this](uint64_t ticket, const RecordPointer& record) {
    Q_EMIT Partial(ticket, record);
  };
  listener.what_if_part = [this](const ReplyPointer& part) { Q_EMIT WhatIfPart(part); };
  service_ = std::make_unique<EngineService>(std::move(engine), std::move(listener));
}

EngineWorker::~EngineWorker() = default;

quint64 EngineWorker::Post(EngineRequest request, Side side) {
  return service_->Post(std::move(request), side);
}

}  // namespace midscope
