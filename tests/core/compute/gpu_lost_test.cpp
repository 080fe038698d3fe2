// SPDX-License-Identifier: MIT
// A GPU that the process loses through a fault in a kernel. Contract: the run fails with an error
// that names the GPU, later runs fail immediately with the same error, and the model runs on the
// CPU. In a separate source, because the process has no GPU afterwards.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/compute/device_facts.h"
#include "core/decoder/decoder.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Reads behind the end of a tensor of the GPU, which its kernel refuses by an assertion.
class ReadingBehindTheEnd : public Hook {
 public:
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point != HookPoint{HookSite::kResidPost, 0}) return {};
    return {HookAccess::kRead, {sequence.rows - 1, sequence.rows}};
  }
  void OnActivation(HookView& /*view*/) override {
    const at::Device gpu(at::kCUDA, 0);
    const at::Tensor behind = at::full({1}, 1000, at::TensorOptions().dtype(at::kLong).device(gpu));
    at::arange(4, at::TensorOptions().device(gpu)).index_select(0, behind).cpu();
  }
};

TEST(GpuLost, SaysSoAtOnceAndTheCpuGoesOn) {
  if (AvailableDevices().back().kind != DeviceKind::kCuda) GTEST_SKIP() << "no GPU here";
  const auto open = [](const char* device) {
    return Decoder::Open(test::TinyModelPath("llama"),
                         {.threads = 1, .placement = ParsePlacement(device)});
  };
  const auto decoder = open("cuda:0");
  const std::vector<int32_t> ids = {1, 38, 75, 112};
  RunRequest request;
  request.ids = ids;
  ReadingBehindTheEnd hook;
  request.hooks = {&hook};
  const std::string lost = test::ErrorMessage([&] { decoder->RunOne(request); });
  EXPECT_THAT(
      lost, AllOf(HasSubstr("device cuda:0: it is lost (CUDA error:"), HasSubstr("--device cpu")));
  request.hooks.clear();
  EXPECT_EQ(test::ErrorMessage([&] { decoder->RunOne(request); }), lost);
  EXPECT_NO_THROW(open("cpu")->RunOne(request));
}

}  // namespace
}  // namespace midscope
