// SPDX-License-Identifier: MIT
// Runs an engine on a separate thread. Requests and replies are values; a reply has the ticket of
// its request. Every request gets exactly one reply: done, cancelled or failed (with the reason).
//
// What-ifs run before all other requests except opening a model and setting prompts. A newer
// what-if supersedes a waiting one of the same side and cancels the running one. If requests have
// superseded each other for max_frame_interval (SetMaxFrameInterval), the running what-if
// continues, so that there is something to show: until its reply or, if the last what-if took
// longer than kLongestProtection, until its first partial reply (Listener::what_if_part) if that
// takes at most kLongestProtection.
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
  kGenerate,
  kProbeSamples
};

using EngineRequest = std::variant<OpenRequest, PromptRequest, CaptureRunRequest, WhatIfRequest,
                                   CompareRequest, ScanRequest, ChannelSearchRequest,
                                   PromptChannelsRequest, GenerateRequest, ProbeSamplesRequest>;

struct EngineReply {
  uint64_t ticket = 0;
  RequestKind kind = RequestKind::kOpen;
  Side side = Side::kA;
  EngineRequest request;
  JobOutcome outcome;
  bool device_fault = false;          // whether the request failed with a DeviceError
  bool engine_ended = false;          // whether the request failed with EngineEnded
  ModelSummary model;                 // kOpen
  Provenance provenance;              // kOpen
  std::vector<Record> records;        // one record for kCompare, kScan, kPromptChannels, kGenerate
  std::vector<std::string> failures;  // kCaptureRun: messages of failed probes
  double seconds = 0;                 // kCaptureRun
  WhatIfCost cost;                    // kWhatIf
};

class EngineService {
 public:
  using Clock = std::chrono::steady_clock;
  using ReplyPointer = std::shared_ptr<const EngineReply>;
  using RecordPointer = std::shared_ptr<const Record>;

  // Callbacks; each may be empty. They are called on the service's thread, except `replied` for a
  // request that is cancelled while it waits, which is called on the cancelling thread. Callbacks
  // must not call the service.
  struct Listener {
    std::function<void(ReplyPointer reply)> replied;
    std::function<void(uint64_t ticket, const Progress& progress)> progressed;
    std::function<void(uint64_t ticket, RecordPointer record)> partial;
    // Gets a partial reply to a running what-if, with the request's ticket and the records so far.
    std::function<void(ReplyPointer part)> what_if_part;
    std::function<void(const std::string& message)> logged;
  };

  EngineService(std::shared_ptr<Engine> engine, Listener listener);
  // Cancels the running request and waits until it ends; waiting requests get no reply.
  ~EngineService();
  EngineService(const EngineService&) = delete;
  EngineService& operator=(const EngineService&) = delete;

  // Queues a request and returns its ticket. Thread-safe; never waits for the engine.
  uint64_t Post(EngineRequest request, Side side = Side::kA);
  // Cancels all waiting and running requests of `kind`; for what-ifs, capture runs and generated
  // text, only those of `side`.
  void Cancel(RequestKind kind, Side side);
  void CancelAll();
  // Calls Engine::Preview. Thread-safe; does not wait for queued requests.
  std::vector<Record> Preview(const PromptRequest& request) const {
    return engine_->Preview(request);
  }
  // Returns the engine; only its thread-safe functions may be called.
  std::shared_ptr<const Engine> engine() const { return engine_; }
  // Sets max_frame_interval, the maximum time during which newer what-ifs may cancel the running
  // one. Default: a quarter of the last what-if's duration, within 20 to 400 ms.
  void SetMaxFrameInterval(std::chrono::milliseconds interval) { max_frame_interval_ = interval; }

 private:
  static constexpr std::chrono::milliseconds kNoIntervalSet{-1};
  static constexpr double kLongestProtection = 0.25;  // seconds

  struct Work {
    uint64_t ticket = 0;
    EngineRequest request;
    Side side = Side::kA;
    std::shared_ptr<std::atomic<bool>> cancel = std::make_shared<std::atomic<bool>>(false);
    // Whether a partial reply to the request has been delivered.
    std::shared_ptr<std::atomic<bool>> shown = std::make_shared<std::atomic<bool>>(false);

    RequestKind kind() const { return static_cast<RequestKind>(request.index()); }
  };
  static bool Matches(const Work& work, RequestKind kind, Side side);

  void Loop();
  void Run(const Work& work);
  void Do(const Work& work, const JobContext& context, EngineReply& reply);
  void DeliverPart(const Work& work, const WhatIfReply& part);
  void DeliverPartial(const Work& work, const Record& record);
  // Returns a reply with the request, its ticket, kind and side, without results.
  static std::shared_ptr<EngineReply> ReplyTo(const Work& work);
  void ReplyCancelled(const Work& work);
  std::chrono::milliseconds MaxFrameInterval() const;
  // Cancels the running what-if that a new one of this side supersedes; removes and returns the
  // waiting ones. Requires mutex_.
  std::vector<Work> Supersede(Side side);
  void TakeMatching(RequestKind kind, Side side, std::vector<Work>& taken);

  const std::shared_ptr<Engine> engine_;
  const Listener listener_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Work> queue_;    // guarded by mutex_
  Work running_;              // guarded by mutex_; ticket 0: none
  uint64_t last_ticket_ = 0;  // guarded by mutex_
  bool quit_ = false;         // guarded by mutex_
  bool superseding_ = false;  // guarded by mutex_: no what-if has finished since one was superseded
  Clock::time_point superseding_since_;
  std::atomic<std::chrono::milliseconds> max_frame_interval_{kNoIntervalSet};
  double last_seconds_ = 0;   // guarded by mutex_: duration of the last what-if
  double first_picture_ = 0;  // guarded by mutex_: time until the first part of the last what-if
  std::thread thread_;        // last member, because it uses all others
};

}  // namespace midscope
