// SPDX-License-Identifier: MIT
// gpt-oss: values read from keys of config.json, their defaults, and rejected MXFP4 files. The
// numbers of complete models are tested in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/safetensors_parts.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::ErrorMessage;
using test::ErrorWith;
using test::ReadSafetensors;
using test::SafetensorsParts;
using test::TemporaryFolder;
using test::TinyModelFolder;
using test::WriteSafetensors;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kGateUp = "model.layers.1.mlp.experts.gate_up_proj";

TEST(GptOss, ReadsDefaults) {
  const ModelConfig config = ConfigWith("gpt-oss", {{"head_dim", nullptr},
                                                    {"num_key_value_heads", nullptr},
                                                    {"num_attention_heads", 16},
                                                    {"rope_parameters", nullptr},
                                                    {"layer_types", nullptr},
                                                    {"sliding_window", nullptr},
                                                    {"swiglu_limit", nullptr},
                                                    {"num_local_experts", nullptr},
                                                    {"num_experts_per_tok", nullptr}});
  EXPECT_EQ(config.head_dim, 64);
  EXPECT_EQ(config.key_value_heads, 8);
  EXPECT_EQ(config.rope_base, 150000.0);
  EXPECT_EQ(config.rope_scaling.kind, RopeScalingKind::kYarn);
  EXPECT_EQ(config.rope_scaling.factor, 32.0);
  EXPECT_FALSE(config.rope_scaling.truncate);
  EXPECT_NEAR(config.rope_scaling.attention_factor, 0.1 * std::log(32.0) + 1.0, 1e-12);
  EXPECT_EQ(config.attention[0].window, 128);
  EXPECT_EQ(config.attention[1].window, 0);
  EXPECT_EQ(config.attention[2].window, 128);
  EXPECT_EQ(config.clamped_swiglu.limit, 7.0);
  EXPECT_EQ(config.experts.count, 128);
  EXPECT_EQ(config.experts.per_row, 4);
  EXPECT_TRUE(config.attention_sinks);
}

TEST(GptOss, RefusesOtherQuantisations) {
  for (const char* method : {"bitsandbytes", "fp8", ""}) {
    EXPECT_THAT(ErrorWith("gpt-oss", {{"quantization_config", {{"quant_method", method}}}}),
                HasSubstr("its weights are quantised"));
  }
  EXPECT_THAT(ErrorWith("llama", {{"quantization_config", {{"quant_method", "mxfp4"}}}}),
              HasSubstr("its weights are quantised"));
}

// Opens the model in MXFP4 after a change of its tensors.
template <typename Change>
std::string OpenErrorOf(const Change& change) {
  const TemporaryFolder folder(TinyModelFolder("gpt-oss-mxfp4"));
  SafetensorsParts parts = ReadSafetensors(folder.Read("model.safetensors"));
  change(parts);
  folder.Write("model.safetensors", WriteSafetensors(parts));
  return ErrorMessage([&] { OpenFolderModel(folder.path()); });
}

TEST(GptOss, RefusesMxfp4ThatDoesNotFit) {
  const std::string blocks = std::string(kGateUp) + "_blocks";
  const std::string scales = std::string(kGateUp) + "_scales";
  EXPECT_EQ(OpenErrorOf([](SafetensorsParts&) {}), "");
  EXPECT_THAT(OpenErrorOf([&](SafetensorsParts& parts) { parts.erase(scales); }),
              AllOf(HasSubstr(blocks), HasSubstr("without its scales")));
  EXPECT_THAT(OpenErrorOf([&](SafetensorsParts& parts) { parts.erase(blocks); }),
              AllOf(HasSubstr(scales), HasSubstr("without its blocks")));
  EXPECT_THAT(OpenErrorOf([&](SafetensorsParts& parts) {
                parts[scales].shape = {64, 5, 1};
              }),
              AllOf(HasSubstr(blocks), HasSubstr("has shape [5, 64, 1, 16]; its scales need")));
  EXPECT_THAT(OpenErrorOf([&](SafetensorsParts& parts) {
                parts[scales].shape = {5, 32, 2};
                parts[blocks].shape = {5, 32, 2, 16};
              }),
              HasSubstr("has shape [5, 32, 64]; the model needs [5, 64, 32]"));
  EXPECT_THAT(OpenErrorOf([&](SafetensorsParts& parts) { parts[scales].dtype = "I8"; }),
              HasSubstr("must have the dtype U8"));
}

TEST(GptOss, RefusesScalesThatAreNotFinite) {
  const TemporaryFolder folder(TinyModelFolder("gpt-oss-mxfp4"));
  SafetensorsParts parts = ReadSafetensors(folder.Read("model.safetensors"));
  parts[std::string(kGateUp) + "_scales"].bytes[0] = '\xff';
  folder.Write("model.safetensors", WriteSafetensors(parts));
  EXPECT_THAT(ErrorMessage([&] {
                Decoder::Open(folder.path().string(), {kernels::Dtype::kFloat32, 1});
              }),
              HasSubstr("not finite"));
}

// A sink takes its share of every row, the first among them.
TEST(GptOss, WeightsSumToLessThanOne) {
  const auto decoder = Decoder::Open(TinyModelFolder("gpt-oss"), {kernels::Dtype::kFloat32, 1});
  LastQueryAttention attention(decoder->config());
  RunRequest request;
  const std::vector<int32_t> ids = {1};
  request.ids = ids;
  request.hooks = {&attention};
  decoder->RunOne(request);
  for (const float weight : attention.attention()) {
    EXPECT_GT(weight, 0.0f);
    EXPECT_LT(weight, 0.999f);
  }
}

}  // namespace
}  // namespace midscope
