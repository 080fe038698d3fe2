// SPDX-License-Identifier: MIT
// --dtype auto is a rule: float32 on a CPU up to 1.5B parameters, beyond that bfloat16 where the
// CPU multiplies it, bfloat16 on a GPU. Nothing is measured.
#include "core/compute/arithmetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/decoder/decoder.h"
#include "kernels/instruction_set.h"

namespace midscope {
namespace {

using kernels::Dtype;
using ::testing::HasSubstr;

TEST(AutoDtype, FollowsParametersDeviceAndCpu) {
  struct Case {
    int64_t parameters;
    const char* device;
    bool bfloat16_products;
    Dtype expected;
  };
  constexpr int64_t kQwen15 = 1'543'714'304;  // Qwen2.5-1.5B
  for (const Case& one : std::vector<Case>{
           {134'515'008, "cpu", true, Dtype::kFloat32},
           {134'515'008, "cpu", false, Dtype::kFloat32},
           {kQwen15, "cpu", true, Dtype::kFloat32},
           {1'600'000'000, "cpu", true, Dtype::kBFloat16},
           {1'600'000'000, "cpu", false, Dtype::kFloat32},
           {7'241'732'096, "cpu:portable", true, Dtype::kBFloat16},
           {134'515'008, "cuda:0", false, Dtype::kBFloat16},
           {7'241'732'096, "cuda:0=20,cpu=12", false, Dtype::kBFloat16},
       }) {
    EXPECT_EQ(AutoDtype(one.parameters, ParsePlacement(one.device), one.bfloat16_products),
              one.expected)
        << one.parameters << " on " << one.device;
  }
}

TEST(AutoDtype, SaysWhy) {
  ModelConfig config;
  config.parameters = 134'515'008;
  EXPECT_EQ(AutoDtypeText(config, Placement{}),
            "dtype: auto is float32: the model has 134 million parameters");
  EXPECT_EQ(AutoDtypeText(config, ParsePlacement("cuda:0")),
            "dtype: auto is bfloat16: layers are on a GPU");
  config.parameters = 7'241'732'096;
  EXPECT_THAT(AutoDtypeText(config, Placement{}),
              HasSubstr(kernels::HasBFloat16Products() ? "auto is bfloat16" : "no products"));
}

TEST(AutoDtype, ADecoderHasTheDtypeOfTheRuleAndFloat32IsNotLogged) {
  std::vector<std::string> log;
  JobContext context;
  context.log = [&](const std::string& message) { log.push_back(message); };
  const auto decoder = Decoder::Open("embedded", {.auto_dtype = true}, context);
  EXPECT_EQ(decoder->options().dtype, Dtype::kFloat32);
  for (const std::string& line : log) EXPECT_EQ(line.find("dtype"), std::string::npos) << line;
}

}  // namespace
}  // namespace midscope
