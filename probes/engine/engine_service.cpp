// SPDX-License-Identifier: MIT
#include "probes/engine/engine_service.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/timing.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

bool HasSide(RequestKind kind) {
  return kind == RequestKind::kCaptureRun || kind == RequestKind::kWhatIf ||
         kind == RequestKind::kGenerate;
}

}  // namespace

EngineService::EngineService(std::shared_ptr<Engine> engine, Listener listener)
    : engine_(std::move(engine)), listener_(std::move(listener)), thread_([this] { Loop(); }) {}

EngineService::~EngineService() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
    queue_.clear();
    if (running_.ticket != 0) running_.cancel->store(true);
  }
  wake_.notify_all();
  thread_.join();
}

bool EngineService::Matches(const Work& work, RequestKind kind, Side side) {
  return work.ticket != 0 && work.kind() == kind && (!HasSide(kind) || work.side == side);
}

void EngineService::TakeMatching(RequestKind kind, Side side, std::vector<Work>& taken) {
  for (auto it = queue_.begin(); it != queue_.end();) {
    if (Matches(*it, kind, side)) {
      taken.push_back(std::move(*it));
      it = queue_.erase(it);
    } else {
      ++it;
    }
  }
}

std::chrono::milliseconds EngineService::MaxFrameInterval() const {
  const std::chrono::milliseconds set = max_frame_interval_.load();
  if (set != kNoIntervalSet) return set;
  constexpr double kShortest = 20;
  constexpr double kLongest = 400;
  return std::chrono::milliseconds(
      static_cast<int64_t>(std::clamp(last_seconds_ * 1000 / 4, kShortest, kLongest)));
}

std::vector<EngineService::Work> EngineService::Supersede(Side side) {
  std::vector<Work> replaced;
  TakeMatching(RequestKind::kWhatIf, side, replaced);
  if (!Matches(running_, RequestKind::kWhatIf, side)) return replaced;
  const Clock::time_point now = Clock::now();
  const bool soon = std::min(last_seconds_, first_picture_) <= kLongestProtection;
  if (superseding_ && soon && now - superseding_since_ > MaxFrameInterval()) return replaced;
  if (!superseding_) {
    superseding_ = true;
    superseding_since_ = now;
  }
  running_.cancel->store(true);
  return replaced;
}

uint64_t EngineService::Post(EngineRequest request, Side side) {
  std::vector<Work> replaced;
  uint64_t ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    Work work;
    work.request = std::move(request);
    work.side = side;
    ticket = work.ticket = ++last_ticket_;
    if (work.kind() == RequestKind::kWhatIf) {
      replaced = Supersede(side);
      const auto first_other = std::find_if(queue_.begin(), queue_.end(), [](const Work& other) {
        return other.kind() != RequestKind::kOpen && other.kind() != RequestKind::kPrompt &&
               other.kind() != RequestKind::kWhatIf;
      });
      queue_.insert(first_other, std::move(work));
    } else {
      queue_.push_back(std::move(work));
    }
  }
  wake_.notify_one();
  for (const Work& work : replaced) ReplyCancelled(work);
  return ticket;
}

void EngineService::Cancel(RequestKind kind, Side side) {
  std::vector<Work> taken;
  {
    const std::lock_guard lock(mutex_);
    TakeMatching(kind, side, taken);
    if (Matches(running_, kind, side)) running_.cancel->store(true);
  }
  for (const Work& work : taken) ReplyCancelled(work);
}

void EngineService::CancelAll() {
  std::deque<Work> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(queue_);
    if (running_.ticket != 0) running_.cancel->store(true);
  }
  for (const Work& work : taken) ReplyCancelled(work);
}

std::shared_ptr<EngineReply> EngineService::ReplyTo(const Work& work) {
  auto reply = std::make_shared<EngineReply>();
  reply->ticket = work.ticket;
  reply->kind = work.kind();
  reply->side = work.side;
  reply->request = work.request;
  return reply;
}

void EngineService::ReplyCancelled(const Work& work) {
  const std::shared_ptr<EngineReply> reply = ReplyTo(work);
  reply->outcome.end = JobEnd::kCancelled;
  if (listener_.replied) listener_.replied(reply);
}

void EngineService::Loop() {
  for (;;) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return quit_ || !queue_.empty(); });
      if (quit_) return;
      work = std::move(queue_.front());
      queue_.pop_front();
      running_ = work;
    }
    Run(work);
  }
}

void EngineService::Run(const Work& work) {
  const std::shared_ptr<EngineReply> reply = ReplyTo(work);
  ProgressLimit limit;
  JobContext context;
  context.cancel = work.cancel.get();
  context.progress = [this, &work, &limit](const Progress& progress) {
    if (listener_.progressed && limit.Passes(progress)) listener_.progressed(work.ticket, progress);
  };
  context.log = listener_.logged;
  reply->outcome = RunJob(context, [this, &work, &reply](const JobContext& job) {
    try {
      Do(work, job, *reply);
    } catch (const DeviceError&) {
      reply->device_fault = true;
      throw;
    } catch (const EngineEnded&) {
      reply->engine_ended = true;
      throw;
    }
  });
  {
    const std::lock_guard lock(mutex_);
    running_ = Work();
    // If the request was cancelled while it finished, its records are dropped, except after opening
    // a model or setting prompts, because later requests use the new model and prompts.
    const bool taken = reply->kind == RequestKind::kOpen || reply->kind == RequestKind::kPrompt;
    if (!taken && work.cancel->load() && reply->outcome.end == JobEnd::kDone) {
      reply->outcome.end = JobEnd::kCancelled;
      reply->records.clear();
    }
    const bool picture = reply->kind == RequestKind::kWhatIf && reply->outcome.end == JobEnd::kDone;
    if (picture) {
      superseding_ = false;
      if (!reply->cost.seen_before) last_seconds_ = reply->cost.seconds;
      if (!work.shown->load()) first_picture_ = last_seconds_;
    }
  }
  if (listener_.replied) listener_.replied(reply);
}

void EngineService::DeliverPart(const Work& work, const WhatIfReply& part) {
  if (work.cancel->load()) return;
  const std::shared_ptr<EngineReply> reply = ReplyTo(work);
  reply->records = part.records;
  reply->cost = part.cost;
  if (listener_.what_if_part) listener_.what_if_part(reply);
  const std::lock_guard lock(mutex_);
  if (!work.shown->exchange(true)) first_picture_ = part.cost.seconds;
  const bool layers_only = std::any_of(part.records.begin(), part.records.end(), IsPartial);
  if (!layers_only && last_seconds_ <= kLongestProtection) return;
  superseding_ = false;
  // A newer what-if may be waiting until this partial reply is delivered.
  const bool newer = std::any_of(queue_.begin(), queue_.end(), [&work](const Work& waiting) {
    return Matches(waiting, RequestKind::kWhatIf, work.side);
  });
  if (newer) work.cancel->store(true);
}

void EngineService::DeliverPartial(const Work& work, const Record& record) {
  if (!work.cancel->load() && listener_.partial)
    listener_.partial(work.ticket, std::make_shared<Record>(record));
}

void EngineService::Do(const Work& work, const JobContext& context, EngineReply& reply) {
  const auto partial = [this, &work](const Record& record) { DeliverPartial(work, record); };
  switch (work.kind()) {
    case RequestKind::kOpen:
      reply.model = engine_->Open(std::get<OpenRequest>(work.request), context);
      reply.provenance = engine_->Describe();
      break;
    case RequestKind::kPrompt:
      reply.records = engine_->SetPrompt(std::get<PromptRequest>(work.request), context);
      break;
    case RequestKind::kCaptureRun: {
      CaptureRunReply capture =
          engine_->CaptureRun(std::get<CaptureRunRequest>(work.request), context);
      reply.records = std::move(capture.records);
      reply.failures = std::move(capture.failures);
      reply.seconds = capture.seconds;
      break;
    }
    case RequestKind::kWhatIf: {
      const auto part = [this, &work](const WhatIfReply& so_far) { DeliverPart(work, so_far); };
      WhatIfReply what_if = engine_->WhatIf(std::get<WhatIfRequest>(work.request), part, context);
      reply.records = std::move(what_if.records);
      reply.cost = what_if.cost;
      break;
    }
    case RequestKind::kCompare:
      reply.records.push_back(
          engine_->Compare(std::get<CompareRequest>(work.request), partial, context));
      break;
    case RequestKind::kScan:
      reply.records.push_back(engine_->Scan(std::get<ScanRequest>(work.request), partial, context));
      break;
    case RequestKind::kChannelSearch:
      reply.records =
          engine_->SearchChannels(std::get<ChannelSearchRequest>(work.request), partial, context);
      break;
    case RequestKind::kPromptChannels:
      reply.records.push_back(
          engine_->PromptChannels(std::get<PromptChannelsRequest>(work.request), context));
      break;
    case RequestKind::kGenerate:
      reply.records.push_back(
          engine_->Generate(std::get<GenerateRequest>(work.request), partial, context));
      break;
    case RequestKind::kProbeSamples:
      reply.records =
          engine_->ProbeSamples(std::get<ProbeSamplesRequest>(work.request), partial, context);
      break;
  }
}

}  // namespace midscope
