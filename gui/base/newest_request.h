// SPDX-License-Identifier: GPL-3.0-or-later
// Runs requests one after another on its own thread. A newer request supersedes a waiting one.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace midscope {

template <typename Request>
class NewestRequest {
 public:
  // `work` must not throw.
  explicit NewestRequest(std::function<void(const Request& request)> work)
      : work_(std::move(work)), thread_([this] { Loop(); }) {}
  // Waits for the running request to finish.
  ~NewestRequest() {
    {
      const std::lock_guard lock(mutex_);
      quit_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  NewestRequest(const NewestRequest&) = delete;
  NewestRequest& operator=(const NewestRequest&) = delete;

  void Ask(Request request) {
    {
      const std::lock_guard lock(mutex_);
      wanted_ = std::move(request);
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
      }
      work_(*request);
    }
  }

  const std::function<void(const Request&)> work_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Request> wanted_;  // guarded by mutex_
  bool quit_ = false;              // guarded by mutex_
  std::thread thread_;             // last member: the thread uses all of the above
};

}  // namespace midscope
