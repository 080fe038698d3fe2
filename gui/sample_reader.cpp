// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/sample_reader.h"

#include <QElapsedTimer>
#include <utility>

#include "gui/error_text.h"

namespace midscope {

SampleReader::SampleReader(std::shared_ptr<const SampleView> view)
    : view_(std::move(view)), thread_([this] { Loop(); }) {
  qRegisterMetaType<ReplyPointer>("midscope::SampleReader::ReplyPointer");
}

SampleReader::~SampleReader() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void SampleReader::Ask(const SampleChoice& choice) {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = choice;
  }
  wake_.notify_one();
}

void SampleReader::Loop() {
  for (;;) {
    SampleChoice choice;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return quit_ || wanted_; });
      if (quit_) return;
      choice = *std::exchange(wanted_, std::nullopt);
    }
    Q_EMIT Replied(Read(choice));
  }
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
