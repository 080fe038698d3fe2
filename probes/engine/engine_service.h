// SPDX-License-Identifier: MIT
// Runs an engine on a thread of its own. Requests and replies are values with the same ticket;
// every request has exactly one reply: done, cancelled or failed (with the reason).
//
// Requests for what-ifs run before all others. A newer one supersedes a waiting one of the same
// side, and cancels the running one; but while requests keep superseding each other, the current
// run continues at least every max_frame_interval (SetMaxFrameInterval), for a picture: to its
// reply, or, where the last one took longer than kLongestProtection, to its first part
// (Listener::what_if_part) if that comes within kLongestProtection.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "probes/base/side.h"
#include "probes/engine/engine.h"

namespace midscope {

enum class RequestKind {
  kOpen,
  kPrompt,
  kCaptureRun,
  kWhatIf,
  kCompare,
  kScan,
  kChannelSearch,
  kPromptChannels,
  kGenerate
};

using EngineRequest =
    std::variant<OpenRequest, PromptRequest, CaptureRunRequest, WhatIfRequest, CompareRequest,
                 ScanRequest, ChannelSearchRequest, PromptChannelsRequest, GenerateRequest>;

struct EngineReply {
  uint64_t ticket = 0;
  RequestKind kind = RequestKind::kOpen;
  Side side = Side::kA;
  EngineRequest request;
  JobOutcome outcome;
  bool device_fault = false;          // it failed by a DeviceError
  ModelSummary model;                 // kOpen
  Provenance provenance;              // kOpen
  std::vector<Record> records;        // one: kCompare, kScan, kPromptChannels, kGenerate
  std::vector<std::string> failures;  // kCaptureRun: of single probes
  double seconds = 0;                 // kCaptureRun
  WhatIfCost cost;                    // kWhatIf
};

class EngineService {
 public:
  using Clock = std::chrono::steady_clock;
  using ReplyPointer = std::shared_ptr<const EngineReply>;
  using RecordPointer = std::shared_ptr<const Record>;

  // Each may be empty. Called on the service's thread; `replied` for a request that ends before it
  // began is called on the thread that ended it. They must not call the service.
  struct Listener {
    std::function<void(ReplyPointer reply)> replied;
    std::function<void(uint64_t ticket, const Progress& progress)> progressed;
    std::function<void(uint64_t ticket, RecordPointer record)> partial;
    // Partial reply of a running what-if: the request's values, and records.
    std::function<void(ReplyPointer part)> what_if_part;
    std::function<void(const std::string& message)> logged;
  };

  EngineService(std::unique_ptr<Engine> engine, Listener listener);
  // Cancels the running request and waits for it; waiting requests get no reply.
  ~EngineService();
  EngineService(const EngineService&) = delete;
  EngineService& operator=(const EngineService&) = delete;

  // Thread-safe; never blocks on the engine. Returns the ticket of the request.
  uint64_t Post(EngineRequest request, Side side = Side::kA);
  // Cancels all requests of that kind (and side, for what-ifs, capture runs and generated text),
  // waiting or running.
  void Cancel(RequestKind kind, Side side);
  void CancelAll();
  // Engine::Preview; thread-safe, returns without waiting for requests.
  std::vector<Record> Preview(const PromptRequest& request) const {
    return engine_->Preview(request);
  }
  // Longest time without a what-if's reply before a running what-if is no longer superseded.
  // Default: a quarter of the last one's duration, 20 to 400 ms.
  void SetMaxFrameInterval(std::chrono::milliseconds interval) { max_frame_interval_ = interval; }

 private:
  static constexpr std::chrono::milliseconds kNoIntervalSet{-1};
  static constexpr double kLongestProtection = 0.25;  // seconds

  struct Work {
    uint64_t ticket = 0;
    EngineRequest request;
    Side side = Side::kA;
    std::shared_ptr<std::atomic<bool>> cancel = std::make_shared<std::atomic<bool>>(false);
    // Whether a part of it was delivered.
    std::shared_ptr<std::atomic<bool>> shown = std::make_shared<std::atomic<bool>>(false);

    RequestKind kind() const { return static_cast<RequestKind>(request.index()); }
  };
  static bool Matches(const Work& work, RequestKind kind, Side side);

  void Loop();
  void Run(const Work& work);
  void Do(const Work& work, const JobContext& context, EngineReply& reply);
  void DeliverPart(const Work& work, const WhatIfReply& part);
  void DeliverPartial(const Work& work, const Record& record);
  // A reply with the request's values.
  static std::shared_ptr<EngineReply> ReplyTo(const Work& work);
  void ReplyCancelled(const Work& work);
  // Requires mutex_.
  std::chrono::milliseconds MaxFrameInterval() const;
  // Requires mutex_. Removes the what-ifs that a new one supersedes and returns the waiting ones.
  std::vector<Work> Supersede(Side side);
  void TakeMatching(RequestKind kind, Side side, std::vector<Work>& taken);

  std::unique_ptr<Engine> engine_;
  const Listener listener_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Work> queue_;    // guarded by mutex_
  Work running_;              // guarded by mutex_; ticket 0: none
  uint64_t last_ticket_ = 0;  // guarded by mutex_
  bool quit_ = false;         // guarded by mutex_
  bool superseding_ = false;  // guarded by mutex_: a what-if was stopped, none has finished since
  Clock::time_point superseding_since_;
  std::atomic<std::chrono::milliseconds> max_frame_interval_{kNoIntervalSet};
  double last_seconds_ = 0;   // guarded by mutex_: of the last what-if that was run
  double first_picture_ = 0;  // guarded by mutex_: seconds to the first part of the last one
  std::thread thread_;        // last: it uses all of the above
};

}  // namespace midscope
