// SPDX-License-Identifier: GPL-3.0-or-later
// Runs requests one after another on its own thread. A newer request supersedes a waiting one and
// cancels the running one.
#pragma once

#include <QMetaObject>
#include <QObject>
#include <QString>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/job.h"

namespace midscope {

// A Reply has a QString `failure`, which is empty if there was none.
template <typename Request, typename Reply>
class NewestReply {
 public:
  using Deliver = std::function<void(Reply reply)>;
  using Work =
      std::function<void(const Request& request, const JobContext& job, const Deliver& deliver)>;
  using Done = std::function<void(const Request& request, Reply& reply)>;

  // `work` runs on the thread; if it throws anything but Cancelled, the message is delivered.
  // `done` takes what is delivered, in the thread of `receiver`, while that exists.
  NewestReply(QObject* receiver, Work work, Done done)
      : receiver_(receiver),
        work_(std::move(work)),
        done_(std::move(done)),
        thread_([this] { Loop(); }) {}
  // Waits for the running request to finish.
  ~NewestReply() {
    {
      const std::lock_guard lock(mutex_);
      quit_ = cancel_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  NewestReply(const NewestReply&) = delete;
  NewestReply& operator=(const NewestReply&) = delete;

  void Ask(Request request) {
    {
      const std::lock_guard lock(mutex_);
      wanted_ = std::move(request);
      cancel_ = true;
    }
    wake_.notify_one();
  }

 private:
  void Loop() {
    for (;;) {
      std::optional<Request> request;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return quit_ || wanted_; });
        if (quit_) return;
        request = std::exchange(wanted_, std::nullopt);
        cancel_ = false;
      }
      Run(*request);
    }
  }
  void Run(const Request& request) {
    const Deliver deliver = [this, &request](Reply reply) {
      QMetaObject::invokeMethod(
          receiver_,
          [done = done_, request, reply = std::make_shared<Reply>(std::move(reply))] {
            done(request, *reply);
          },
          Qt::QueuedConnection);
    };
    JobContext context;
    context.cancel = &cancel_;
    const JobOutcome outcome =
        RunJob(context, [&](const JobContext& job) { work_(request, job, deliver); });
    if (outcome.end != JobEnd::kFailed) return;
    Reply failed;
    failed.failure = QString::fromStdString(outcome.why);
    deliver(std::move(failed));
  }

  QObject* const receiver_;
  const Work work_;
  const Done done_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Request> wanted_;  // guarded by mutex_
  bool quit_ = false;              // guarded by mutex_
  std::atomic<bool> cancel_ = false;
  std::thread thread_;  // last member: the thread uses all of the above
};

}  // namespace midscope
