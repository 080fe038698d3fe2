// SPDX-License-Identifier: MIT
// Devices that fail in the middle of a run. Contract: the job fails with a message that names the
// device, the reason and the remedy; the trace keeps its valid part; a device that had too little
// memory can run again, a lost one fails immediately; the same model runs on the CPU, with the same
// numbers as without a fault. A hook between two layers throws the faults as LibTorch does; the
// device is cpu:portable.
#include "core/compute/device_faults.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/base/job.h"
#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Throw = std::function<void()>;

void ThrowOutOfMemory() {
  C10_THROW_ERROR(OutOfMemoryError, "Tried to allocate 2.00 GiB. And more\nof the allocator");
}

// cudaErrorIllegalAddress
void ThrowIllegalAddress() {
  throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, 700,
                              "CUDA error: an illegal memory access was encountered\nmore");
}

// cudaErrorInvalidConfiguration: of one call alone.
void ThrowBadLaunch() {
  throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, 9,
                              "CUDA error: invalid configuration argument");
}

// Throws when the stream leaves a layer, once.
class FaultyLayer : public Hook {
 public:
  FaultyLayer(int64_t layer, Throw fault) : layer_(layer), fault_(std::move(fault)) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point.site != HookSite::kResidPost || point.layer != layer_) return {};
    return {HookAccess::kRead, {sequence.rows - 1, sequence.rows}};
  }
  void OnActivation(HookView& /*view*/) override {
    ++shown;
    if (const Throw fault = std::exchange(fault_, nullptr)) fault();
  }
  int shown = 0;

 private:
  int64_t layer_;
  Throw fault_;
};

class DeviceFaultsTest : public ::testing::Test {
 protected:
  static std::shared_ptr<const Decoder> Open(const std::string& device) {
    return Decoder::Open(test::TinyModelPath("llama"),
                         {.threads = 1, .placement = ParsePlacement(device)});
  }

  // The job's end, with a fault in the layer.
  JobOutcome RunWith(const Decoder& decoder, const Throw& fault, int64_t layer = 0,
                     Trace* trace = nullptr) {
    FaultyLayer hook(layer, fault);
    JobOutcome outcome = RunJob({}, [&](const JobContext& job) {
      RunRequest request;
      request.ids = ids_;
      request.hooks = {&hook};
      request.trace = trace;
      logits_ = decoder.RunOne(request, job).logits;
    });
    layers_shown_ = hook.shown;
    return outcome;
  }

  std::vector<int32_t> ids_ = {1, 38, 75, 112, 149, 186, 223, 10};
  std::vector<float> logits_;
  int layers_shown_ = 0;
};

TEST_F(DeviceFaultsTest, TooLittleMemoryFailsTheJobAndNotTheModel) {
  const auto decoder = Open("cpu:portable");
  const auto trace = decoder->MakeTrace(8);
  const JobOutcome failed = RunWith(*decoder, ThrowOutOfMemory, 1, trace.get());
  EXPECT_EQ(failed.end, JobEnd::kFailed);
  EXPECT_THAT(failed.problem,
              AllOf(HasSubstr("device cpu:portable: its memory is too small for this run ("),
                    HasSubstr(" GB free now)")));
  EXPECT_THAT(failed.why, AllOf(HasSubstr("fewer layers (--device cpu:portable=N,cpu)"),
                                HasSubstr("--dtype bfloat16"), HasSubstr("or --device cpu"),
                                Not(HasSubstr("internal error")), Not(HasSubstr("allocator"))));
  EXPECT_EQ(trace->rows(), 0);
  // With less, or once others have given memory back.
  EXPECT_EQ(RunWith(*decoder, nullptr, 1, trace.get()).end, JobEnd::kDone);
  EXPECT_EQ(trace->rows(), 8);
}

TEST_F(DeviceFaultsTest, TheDeviceOfTheLayerIsNamed) {
  const auto decoder = Open("cpu=1,cpu:portable");
  EXPECT_THAT(RunWith(*decoder, ThrowOutOfMemory, 1).problem, HasSubstr("device cpu:portable:"));
  const JobOutcome cpu = RunWith(*decoder, ThrowOutOfMemory, 0);
  EXPECT_THAT(cpu.problem, HasSubstr("device cpu:"));
  EXPECT_THAT(cpu.why, Not(HasSubstr("--device cpu")));  // it would have the same memory
  // LibTorch's message names the GPU.
  const auto gpu = [] {
    C10_THROW_ERROR(OutOfMemoryError, "CUDA out of memory. GPU 3 has a total capacity of 1 GiB");
  };
  EXPECT_THAT(RunWith(*decoder, gpu, 1).problem, HasSubstr("device cuda:3:"));
}

TEST_F(DeviceFaultsTest, ALostDeviceSaysSoAtOnceAndTheCpuGoesOn) {
  const auto decoder = Open("cpu:portable");
  const auto trace = decoder->MakeTrace(8);
  ASSERT_EQ(RunWith(*decoder, nullptr, 0, trace.get()).end, JobEnd::kDone);
  const auto other = decoder->MakeTrace(8);
  const JobOutcome lost = RunWith(*decoder, ThrowIllegalAddress);
  EXPECT_EQ(lost.end, JobEnd::kFailed);
  EXPECT_THAT(lost.problem, HasSubstr("device cpu:portable: it is lost (CUDA error: an illegal "
                                      "memory access was encountered)"));
  EXPECT_THAT(lost.why, HasSubstr("--device cpu"));
  const JobOutcome again = RunWith(*decoder, nullptr);
  EXPECT_EQ(again.why, lost.why);
  EXPECT_EQ(layers_shown_, 0);  // nothing was run
  EXPECT_THROW(decoder->MakeTrace(4), DeviceError);
  EXPECT_THROW(trace->Channel(1, 0), DeviceError);
  EXPECT_THROW(other->TakeRows(*trace, 4), DeviceError);
  EXPECT_THROW(decoder->Unembed(std::vector<float>(static_cast<size_t>(decoder->config().hidden))),
               DeviceError);

  EXPECT_EQ(RunWith(*Open("cpu"), nullptr).end, JobEnd::kDone);
  const std::vector<float> on_cpu = logits_;
  EXPECT_EQ(RunWith(*Open("cpu:portable"), nullptr).end, JobEnd::kDone);
  EXPECT_LE(test::Difference(logits_, on_cpu), 2e-5 * test::Largest(on_cpu));
}

TEST_F(DeviceFaultsTest, AFaultOfOneCallIsNotALostDevice) {
  const auto decoder = Open("cpu:portable");
  const JobOutcome failed = RunWith(*decoder, ThrowBadLaunch);
  EXPECT_THAT(failed.why, AllOf(HasSubstr("it failed (CUDA error: invalid configuration argument)"),
                                HasSubstr("Run again"), HasSubstr("--device cpu")));
  EXPECT_EQ(RunWith(*decoder, nullptr).end, JobEnd::kDone);
}

TEST_F(DeviceFaultsTest, OtherErrorsStayBugs) {
  const auto decoder = Open("cpu:portable");
  const JobOutcome failed = RunWith(*decoder, [] { TORCH_CHECK(false, "shapes do not agree"); });
  EXPECT_THAT(failed.why, AllOf(HasSubstr("internal error: "), HasSubstr("shapes do not agree")));
}

// The exception that LibTorch throws where the host has no memory.
TEST_F(DeviceFaultsTest, TooLittleMemoryOfTheHostIsNoBug) {
  const auto fault = [] {
    TORCH_CHECK(false, "DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 byte");
  };
  const JobOutcome failed = RunWith(*Open("cpu"), fault);
  EXPECT_THAT(failed.why, AllOf(HasSubstr("device cpu: its memory is too small for this run"),
                                HasSubstr("Choose --dtype bfloat16, a shorter prompt")));
  const auto decoder = Open("cpu");
  const JobOutcome trace =
      RunJob({}, [&](const JobContext&) { decoder->MakeTrace(int64_t{1} << 50); });
  EXPECT_THAT(trace.why, HasSubstr("too small for what is kept of this run"));
}

TEST_F(DeviceFaultsTest, WhatIfGoesOnAfterTooLittleMemory) {
  const std::shared_ptr<const Decoder> decoder = Open("cpu:portable");
  Prompt prompt;
  prompt.ids = ids_;
  WhatIf what_if(decoder, {prompt});
  const Intervention setting = ParseIntervention("channel(3, factor=-1)");
  JobContext context;
  context.progress = [fault = true](const Progress& progress) mutable {
    if (progress.done == 1 && std::exchange(fault, false)) ThrowOutOfMemory();
  };
  const JobOutcome failed =
      RunJob(context, [&](const JobContext& job) { what_if.Evaluate(setting, job); });
  EXPECT_THAT(failed.problem, HasSubstr("device cpu:portable: its memory is too small"));
  WhatIf afresh(Open("cpu"), {prompt});
  const std::vector<float> expected = afresh.Evaluate(setting).outcomes[0].last_logits;
  EXPECT_LE(test::Difference(what_if.Evaluate(setting).outcomes[0].last_logits, expected),
            2e-5 * test::Largest(expected));
}

}  // namespace
}  // namespace midscope
