// SPDX-License-Identifier: MIT
// The tiny models of all families on a GPU in bfloat16 and float16. Contract: logits are as close
// to those in float32 on the CPU as the CPU's are in the same dtype (for float16 with LibTorch's
// operations), within a factor of 3 and 1/200 of the largest logit; for mixtures of experts, where
// rounding may change the choice of experts, 1/50.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/compute/device_facts.h"
#include "core/compute/placement.h"
#include "core/decoder/decoder.h"
#include "core/model/model_source.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::Difference;
using test::Largest;
using test::TinyModelNames;
using test::TinyModelPath;

bool HasExperts(const std::string& model) {
  return OpenModel(TinyModelPath(model))->config().experts.count > 0;
}

RunResult RunOn(const std::string& model, const char* device, kernels::Dtype dtype,
                const char* setting) {
  const std::vector<int32_t> ids = test::SomeTinyIds(41);
  RunRequest request;
  request.ids = ids;
  request.intervention = ParseIntervention(setting);
  return Decoder::Open(TinyModelPath(model),
                       {.dtype = dtype, .threads = 1, .placement = ParsePlacement(device)})
      ->RunOne(request);
}

void CheckAgainstTheCpu(kernels::Dtype dtype, const char* beside) {
  if (AvailableDevices().back().kind != DeviceKind::kCuda) GTEST_SKIP() << "no GPU here";
  for (const std::string& model : TinyModelNames()) {
    const double share = HasExperts(model) ? 1.0 / 50 : 1.0 / 200;
    for (const char* setting : {"none", "ms-poe", "self-extend(group=2, window=8)"}) {
      RunResult expected;
      try {
        expected = RunOn(model, "cpu", kernels::Dtype::kFloat32, setting);
      } catch (const Error&) {
        continue;  // a model without rotary positions
      }
      const RunResult cpu = RunOn(model, beside, dtype, setting);
      const RunResult gpu = RunOn(model, "cuda:0", dtype, setting);
      EXPECT_TRUE(std::all_of(gpu.logits.begin(), gpu.logits.end(),
                              [](float x) { return std::isfinite(x); }))
          << model << " " << setting;
      // Rounding may change the order of heads with nearly equal scores.
      if (gpu.position_ratio.values != expected.position_ratio.values) continue;
      EXPECT_LE(Difference(gpu.logits, expected.logits),
                3 * Difference(cpu.logits, expected.logits) + Largest(expected.logits) * share)
          << model << " " << setting;
    }
  }
}

TEST(GpuFamilies, BFloat16IsAsCloseAsOnTheCpu) {
  CheckAgainstTheCpu(kernels::Dtype::kBFloat16, "cpu");
}
TEST(GpuFamilies, Float16IsAsCloseAsOnTheCpu) {
  CheckAgainstTheCpu(kernels::Dtype::kFloat16, "cpu:portable");
}

}  // namespace
}  // namespace midscope
