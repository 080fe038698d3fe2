// SPDX-License-Identifier: MIT
// Partial replies of a running what-if: each counts as a delivered frame, after which it yields to
// a newer setting.
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/terms/intervention_text.h"
#include "probes/base/records.h"
#include "probes/engine/engine_service.h"
#include "tests/probes/support/fake_what_if_engine.h"

namespace midscope {
namespace {

using testing::Factor;
using testing::FakeWhatIfEngine;
using testing::WhatIfGate;

// Reports a layer when the test permits it, then waits at the gate.
class LayeredEngine : public FakeWhatIfEngine {
 public:
  LayeredEngine(std::shared_ptr<WhatIfGate> gate, std::shared_ptr<WhatIfGate> layer)
      : FakeWhatIfEngine(std::move(gate)), layer_(std::move(layer)) {}

  WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                     const JobContext& context) override {
    layer_->Pass(request.intervention, context);
    WhatIfReply part;
    part.records.emplace_back();
    part.records.back().attributes[kLayersDone] = int64_t{1};
    part.cost.seconds = 0.1;
    partial(part);
    return FakeWhatIfEngine::WhatIf(request, partial, context);
  }

 private:
  std::shared_ptr<WhatIfGate> layer_;
};

class EngineParts : public ::testing::Test {
 protected:
  EngineParts() {
    EngineService::Listener listener;
    listener.replied = [this](const EngineService::ReplyPointer& reply) {
      const std::lock_guard lock(mutex_);
      ends_[reply->ticket] = reply->outcome.end;
      changed_.notify_all();
    };
    listener.what_if_part = [this](const EngineService::ReplyPointer& part) {
      const std::lock_guard lock(mutex_);
      parts_.push_back(part);
    };
    service = std::make_unique<EngineService>(std::make_unique<LayeredEngine>(gate, layer),
                                              std::move(listener));
  }
  ~EngineParts() override {
    layer->Set(false);
    gate->Set(false);
  }

  JobEnd EndOf(uint64_t ticket) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        changed_.wait_for(lock, std::chrono::seconds(10), [&] { return ends_.count(ticket) > 0; }));
    return ends_[ticket];
  }
  std::vector<uint64_t> Parts() {
    const std::lock_guard lock(mutex_);
    std::vector<uint64_t> tickets;
    for (const auto& part : parts_) tickets.push_back(part->ticket);
    return tickets;
  }

  std::shared_ptr<WhatIfGate> gate = std::make_shared<WhatIfGate>();
  std::shared_ptr<WhatIfGate> layer = std::make_shared<WhatIfGate>();
  std::unique_ptr<EngineService> service;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, JobEnd> ends_;
  std::vector<EngineService::ReplyPointer> parts_;
};

TEST_F(EngineParts, ARunThatIsLetGoOnYieldsAfterItsFirstPicture) {
  service->SetMaxFrameInterval(std::chrono::milliseconds(0));
  layer->Set(true);
  gate->Set(true);  // never opened, so only the cancel flag ends a run
  const uint64_t first = service->Post(Factor(0.5));
  ASSERT_TRUE(layer->WaitForBegun(1));
  const uint64_t second = service->Post(Factor(0.4));  // cancels the first
  EXPECT_EQ(EndOf(first), JobEnd::kCancelled);
  ASSERT_TRUE(layer->WaitForBegun(2));
  // The second is not cancelled until it has delivered a frame.
  const uint64_t third = service->Post(Factor(0.3));
  layer->Set(false);
  EXPECT_EQ(EndOf(second), JobEnd::kCancelled);
  EXPECT_EQ(Parts().front(), second);
  gate->Set(false);
  EXPECT_EQ(EndOf(third), JobEnd::kDone);
}

TEST_F(EngineParts, AStoppedRunTellsOfNothing) {
  layer->Set(true);
  const uint64_t first = service->Post(Factor(0.5));
  ASSERT_TRUE(layer->WaitForBegun(1));
  service->Cancel(RequestKind::kWhatIf, Side::kA);
  layer->Set(false);
  EXPECT_EQ(EndOf(first), JobEnd::kCancelled);
  EXPECT_TRUE(Parts().empty());
}

}  // namespace
}  // namespace midscope
