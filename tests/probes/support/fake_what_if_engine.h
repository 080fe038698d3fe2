// SPDX-License-Identifier: MIT
// An engine without a model, with planted answers, whose what-ifs wait at a gate.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "probes/engine/engine.h"

namespace midscope::testing {

// State shared by the test and the engine.
struct WhatIfGate {
  std::mutex mutex;
  std::condition_variable changed;
  bool closed = false;              // guarded by mutex
  bool refuses_none = false;        // as for a prompt longer than the trained context
  std::vector<Intervention> begun;  // guarded by mutex

  void Set(bool close) {
    const std::lock_guard lock(mutex);
    closed = close;
    changed.notify_all();
  }
  // Called when a what-if begins: waits until the gate is open. Throws Cancelled.
  void Pass(const Intervention& intervention, const JobContext& context) {
    std::unique_lock lock(mutex);
    begun.push_back(intervention);
    changed.notify_all();
    while (closed) {
      changed.wait_for(lock, std::chrono::milliseconds(2));
      context.ThrowIfCancelled();
    }
  }
  // Whether `count` what-ifs begin within ten seconds.
  bool WaitForBegun(size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(10), [&] { return begun.size() >= count; });
  }
};

// A request that scales one channel by `factor`.
inline WhatIfRequest Factor(double factor) {
  WhatIfRequest request;
  request.intervention = ParseIntervention("channel(1, factor=" + std::to_string(factor) + ")");
  return request;
}

class FakeWhatIfEngine : public Engine {
 public:
  explicit FakeWhatIfEngine(std::shared_ptr<WhatIfGate> gate) : gate_(std::move(gate)) {}

  // The factor of channel scaling, or 1 if there is none.
  static double AnswerNll(const Intervention& intervention) {
    return intervention.All<ChannelScaling>().empty() ? 1.0
                                                      : intervention.Find<ChannelScaling>()->factor;
  }

  ModelSummary Open(const OpenRequest&, const JobContext&) override { return {}; }
  std::vector<Record> SetPrompt(const PromptRequest&, const JobContext&) override { return {}; }
  CaptureRunReply CaptureRun(const CaptureRunRequest&, const JobContext&) override { return {}; }
  WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial&,
                     const JobContext& context) override {
    gate_->Pass(request.intervention, context);
    context.ThrowIfCancelled();
    if (gate_->refuses_none && request.intervention.empty())
      throw UsageError("prompt", "it is too long");
    if (!request.intervention.All<Crop>().empty()) throw UsageError("crop", "the fake cannot");
    Record outcome;
    outcome.name = "outcome";
    outcome.axes = {{"setting", 1, "", {}, {}}, {"place", 1, "", {}, {}}};
    outcome.arrays = {{"answer_nll",
                       {"setting", "place"},
                       std::vector<double>{AnswerNll(request.intervention)},
                       "",
                       ""},
                      {"correct", {"setting", "place"}, std::vector<uint8_t>{1}, "", ""}};
    Record next;
    next.name = "next_tokens";
    next.axes = {{"rank", 2, "", {}, {}}};
    next.arrays = {{"token_text", {"rank"}, std::vector<std::string>{" a", " b"}, "", ""},
                   {"next_token_ids", {"rank"}, std::vector<int64_t>{7, 8}, "", ""},
                   {"probability", {"rank"}, std::vector<double>{0.75, 0.25}, "", ""}};
    WhatIfReply reply;
    reply.records = {outcome, next};
    reply.cost.first_layer = 3;
    reply.cost.last_rows_only = true;
    return reply;
  }
  Record Compare(const CompareRequest&, const std::function<void(const Record&)>&,
                 const JobContext&) override {
    return {};
  }
  Record Scan(const ScanRequest&, const std::function<void(const Record&)>&,
              const JobContext&) override {
    return {};
  }
  std::vector<Record> SearchChannels(const ChannelSearchRequest&,
                                     const std::function<void(const Record&)>&,
                                     const JobContext&) override {
    return {};
  }
  Record PromptChannels(const PromptChannelsRequest&, const JobContext&) override { return {}; }
  std::vector<Record> ProbeSamples(const ProbeSamplesRequest&,
                                   const std::function<void(const Record&)>&,
                                   const JobContext&) override {
    return {};
  }
  std::vector<Record> Preview(const PromptRequest&) const override { return {}; }
  Record Generate(const GenerateRequest&, const std::function<void(const Record&)>&,
                  const JobContext&) override {
    return {};
  }
  Record MeasureLearnedPositions(const JobContext& /*context*/) const override {
    throw UsageError("model", "it has no embeddings of positions");
  }
  Provenance Describe() const override { return {}; }

 private:
  std::shared_ptr<WhatIfGate> gate_;
};

}  // namespace midscope::testing
