// SPDX-License-Identifier: MIT
// A GPU with too little memory, and what-ifs on a GPU. Contract: a trace that exceeds its memory is
// an error that names the device, and the model remains usable; a what-if on a GPU's trace equals a
// full run with the CPU's kernels within 1/10,000 of the largest logit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/compute/device_facts.h"
#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class GpuFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (AvailableDevices().back().kind != DeviceKind::kCuda) GTEST_SKIP() << "no GPU here";
    prompt_.ids = test::SomeTinyIds(41);
  }

  static std::shared_ptr<const Decoder> Open(const std::string& device) {
    return Decoder::Open(test::TinyModelPath("llama"),
                         {.threads = 1, .placement = ParsePlacement(device)});
  }

  Prompt prompt_;
};

TEST_F(GpuFaults, TooLittleMemoryIsAnErrorAndTheModelGoesOn) {
  const auto decoder = Open("cuda:0");
  const DeviceFacts facts = FactsOf(DeviceName{DeviceKind::kCuda, 0});
  ASSERT_GT(facts.total_bytes, 0);
  // More rows than the whole memory holds.
  const int64_t rows = facts.total_bytes / decoder->TraceBytes(1) + 1;
  const std::string message =
      test::ErrorMessage(ErrorKind::kFailure, [&] { decoder->MakeTrace(rows); });
  EXPECT_THAT(message, AllOf(HasSubstr("device cuda:0: its memory is too small for what is kept"),
                             HasSubstr("GB free now"), HasSubstr("--device cpu")));
  RunRequest request;
  request.ids = prompt_.ids;
  const auto trace = decoder->MakeTrace(64);
  request.trace = trace.get();
  EXPECT_NO_THROW(decoder->RunOne(request));
}

TEST_F(GpuFaults, WhatIfEqualsAFullRunOfTheCpu) {
  WhatIf on_cpu(Open("cpu"), {prompt_});
  for (const char* device : {"cuda:0", "cuda:0=1,cpu"}) {
    WhatIf what_if(Open(device), {prompt_});
    for (const char* setting : {"none", "channel(3, factor=-1)", "ms-poe(first_layer=0)",
                                "channel(5, factor=0.5, rows=last:9)", "none"}) {
      const Intervention intervention = ParseIntervention(setting);
      const auto expected = on_cpu.Evaluate(intervention).outcomes[0].last_logits;
      const auto actual = what_if.Evaluate(intervention).outcomes[0].last_logits;
      EXPECT_LE(test::Difference(actual, expected), 1e-4 * test::Largest(expected))
          << device << " " << setting;
    }
  }
}

}  // namespace
}  // namespace midscope
