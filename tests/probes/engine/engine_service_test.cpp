// SPDX-License-Identifier: MIT
// The newest setting of a side supersedes others: a waiting one is replaced, the running one is
// stopped, and every request gets exactly one reply.
#include "probes/engine/engine_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/terms/intervention_text.h"
#include "tests/probes/support/fake_what_if_engine.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using testing::Factor;
using testing::FakeWhatIfEngine;
using testing::WhatIfGate;

class EngineServiceTest : public ::testing::Test {
 protected:
  EngineServiceTest() {
    EngineService::Listener listener;
    listener.replied = [this](const EngineService::ReplyPointer& reply) {
      const std::lock_guard lock(mutex_);
      ends_[reply->ticket].push_back(reply->outcome.end);
      changed_.notify_all();
    };
    service = std::make_unique<EngineService>(std::make_unique<FakeWhatIfEngine>(gate), listener);
    service->SetMaxFrameInterval(std::chrono::hours(1));
  }
  ~EngineServiceTest() override { gate->Set(false); }

  std::vector<JobEnd> EndsOf(uint64_t ticket) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return ends_.count(ticket) > 0; });
    return ends_[ticket];
  }

  std::shared_ptr<WhatIfGate> gate = std::make_shared<WhatIfGate>();
  std::unique_ptr<EngineService> service;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, std::vector<JobEnd>> ends_;
};

TEST_F(EngineServiceTest, ANewerSettingStopsTheOneUnderWay) {
  gate->Set(true);
  const uint64_t first = service->Post(Factor(0.5));
  ASSERT_TRUE(gate->WaitForBegun(1));
  const uint64_t second = service->Post(Factor(0.25));
  EXPECT_THAT(EndsOf(first), ElementsAre(JobEnd::kCancelled));
  ASSERT_TRUE(gate->WaitForBegun(2));  // although nothing was released
  gate->Set(false);
  EXPECT_THAT(EndsOf(second), ElementsAre(JobEnd::kDone));
}

TEST_F(EngineServiceTest, OnlyTheNewestOfThoseThatWaitIsRun) {
  gate->Set(true);
  const uint64_t other_side = service->Post(Factor(2), Side::kB);
  ASSERT_TRUE(gate->WaitForBegun(1));
  std::vector<uint64_t> tickets;
  tickets.reserve(20);
  for (int i = 1; i <= 20; ++i) tickets.push_back(service->Post(Factor(0.01 * i)));
  for (size_t i = 0; i + 1 < tickets.size(); ++i)
    EXPECT_THAT(EndsOf(tickets[i]), ElementsAre(JobEnd::kCancelled));
  gate->Set(false);
  EXPECT_THAT(EndsOf(tickets.back()), ElementsAre(JobEnd::kDone));
  EXPECT_THAT(EndsOf(other_side), ElementsAre(JobEnd::kDone));
  const std::lock_guard lock(gate->mutex);
  EXPECT_EQ(gate->begun.size(), 2u);
  EXPECT_EQ(gate->begun.back(), Factor(0.2).intervention);
}

TEST_F(EngineServiceTest, MaxFrameIntervalLetsTheOneUnderWayFinish) {
  service->SetMaxFrameInterval(std::chrono::milliseconds(0));
  gate->Set(true);
  const uint64_t first = service->Post(Factor(0.5));
  ASSERT_TRUE(gate->WaitForBegun(1));
  // Cancels the first: the maximum frame interval begins here.
  const uint64_t second = service->Post(Factor(0.4));
  EXPECT_THAT(EndsOf(first), ElementsAre(JobEnd::kCancelled));
  ASSERT_TRUE(gate->WaitForBegun(2));
  const uint64_t third = service->Post(Factor(0.3));
  gate->Set(false);
  EXPECT_THAT(EndsOf(second), ElementsAre(JobEnd::kDone));
  EXPECT_THAT(EndsOf(third), ElementsAre(JobEnd::kDone));
}

TEST_F(EngineServiceTest, CancelAllEndsWhatWaitsAndWhatRuns) {
  gate->Set(true);
  const uint64_t running = service->Post(Factor(0.5));
  ASSERT_TRUE(gate->WaitForBegun(1));
  const uint64_t waiting = service->Post(CaptureRunRequest());
  service->CancelAll();
  EXPECT_THAT(EndsOf(running), ElementsAre(JobEnd::kCancelled));
  EXPECT_THAT(EndsOf(waiting), ElementsAre(JobEnd::kCancelled));
}

TEST_F(EngineServiceTest, ClosingWhileARunIsHeldDoesNotHang) {
  gate->Set(true);
  service->Post(Factor(0.5));
  ASSERT_TRUE(gate->WaitForBegun(1));
  const auto start = std::chrono::steady_clock::now();
  service.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace midscope
