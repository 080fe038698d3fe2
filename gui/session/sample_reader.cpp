// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/sample_reader.h"

#include <QElapsedTimer>
#include <utility>

#include "gui/base/display_text.h"

namespace midscope {

SampleReader::SampleReader(std::shared_ptr<const RemoteSampleView> view)
    : view_(std::move(view)),
      thread_([this](const SampleChoice& choice) { Q_EMIT Replied(Read(choice)); }) {
  qRegisterMetaType<ReplyPointer>("midscope::SampleReader::ReplyPointer");
}

SampleReader::ReplyPointer SampleReader::Read(const SampleChoice& choice) const {
  auto reply = std::make_shared<Reply>();
  reply->view = view_;
  reply->choice = choice;
  QElapsedTimer clock;
  clock.start();
  reply->failure = ErrorText([&] { reply->records = view_->Read(choice); });
  reply->milliseconds = static_cast<double>(clock.nsecsElapsed()) / 1e6;
  return reply;
}

}  // namespace midscope
