// SPDX-License-Identifier: MIT
// A device that fails while the engine runs. Contract: the request fails once, with the device's
// message, whatever probes were requested, and the reply marks it as a device fault; the same
// request succeeds on the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "core/base/error.h"
#include "probes/engine/engine_service.h"
#include "probes/measure/builtin/probe_registry.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using ReplyPointer = EngineService::ReplyPointer;

// Fails in the middle of every run that is not on the CPU, as a faulty device does.
class FaultyDevice : public Probe, public Hook {
 public:
  explicit FaultyDevice(const ProbeInput& input)
      : fails_(!input.decoder.options().placement.IsPlainCpu()) {}
  std::vector<Hook*> Hooks() override { return {this}; }
  Record Finish(const RunResult& /*result*/) override {
    Record record;
    record.name = "faulty_device";
    return record;
  }
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point != HookPoint{HookSite::kResidPost, 0}) return {};
    return {HookAccess::kRead, {sequence.rows - 1, sequence.rows}};
  }
  void OnActivation(HookView& /*view*/) override {
    if (fails_) throw DeviceError(/*lost=*/true, "device x", "it is lost", "Use --device cpu");
  }

 private:
  bool fails_;
};

class EngineDeviceFaults : public ::testing::Test {
 protected:
  EngineDeviceFaults() {
    ProbeType faulty;
    faulty.name = "faulty_device";
    faulty.on_request = true;
    faulty.make = [](const ProbeInput& input) { return std::make_unique<FaultyDevice>(input); };
    ProbeRegistry probes = BuiltInProbes();
    probes.Add(faulty);
    EngineService::Listener listener;
    listener.replied = [this](const ReplyPointer& reply) {
      const std::lock_guard lock(mutex_);
      replies_.push_back(reply);
      changed_.notify_all();
    };
    service_ = std::make_unique<EngineService>(MakeLocalEngine(std::move(probes)), listener);
  }
  ~EngineDeviceFaults() override { service_.reset(); }

  ReplyPointer Reply(EngineRequest request) {
    const uint64_t ticket = service_->Post(std::move(request));
    std::unique_lock lock(mutex_);
    ReplyPointer reply;
    changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      for (const ReplyPointer& each : replies_) {
        if (each->ticket == ticket) reply = each;
      }
      return reply != nullptr;
    });
    return reply;
  }

  // The reply to a capture run of the tiny model on the device.
  ReplyPointer CaptureRunOn(const std::string& device) {
    const ReplyPointer opened =
        Reply(OpenRequest{.model = test::TinyModelPath("llama"), .threads = 1, .device = device});
    EXPECT_EQ(opened->outcome.end, JobEnd::kDone) << opened->outcome.why;
    EXPECT_EQ(opened->model.device, device);
    EXPECT_EQ(opened->model.devices.size(), 1u);
    EXPECT_GT(opened->model.devices.at(0).total_bytes, 0);
    PromptRequest prompt;
    prompt.task = "";
    prompt.text = "a text";
    EXPECT_EQ(Reply(prompt)->outcome.end, JobEnd::kDone);
    CaptureRunRequest capture;
    capture.probe_options = R"({"probes": "default,faulty_device"})";
    return Reply(capture);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ReplyPointer> replies_;
  std::unique_ptr<EngineService> service_;
};

TEST_F(EngineDeviceFaults, TheRequestFailsAndTheCpuDoesIt) {
  const ReplyPointer failed = CaptureRunOn("cpu:portable");
  EXPECT_EQ(failed->outcome.end, JobEnd::kFailed);
  EXPECT_TRUE(failed->device_fault);
  EXPECT_EQ(failed->outcome.why, "device x: it is lost. Use --device cpu");
  EXPECT_TRUE(failed->failures.empty());
  EXPECT_TRUE(failed->records.empty());

  const ReplyPointer done = CaptureRunOn("cpu");
  EXPECT_EQ(done->outcome.end, JobEnd::kDone) << done->outcome.why;
  EXPECT_FALSE(done->device_fault);
  EXPECT_FALSE(done->records.empty());
}

}  // namespace
}  // namespace midscope
