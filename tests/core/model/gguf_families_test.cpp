// SPDX-License-Identifier: MIT
// Values that families of GGUF files read from the metadata, and rejected values. The numbers of
// complete models are tested in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/formats/gguf_file.h"
#include "core/model/gguf_model.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"

namespace midscope {
namespace {

using test::GgufWriter;
using ::testing::HasSubstr;

// Metadata of a model of `layers` layers with 4 heads over 2 key heads of 4 dimensions.
GgufWriter Metadata(const std::string& architecture, const std::string& epsilon = "rms_epsilon",
                    uint32_t layers = 8) {
  GgufWriter writer;
  writer.String("general.architecture", architecture);
  writer.Uint32(architecture + ".block_count", layers).Uint32(architecture + ".context_length", 64);
  writer.Uint32(architecture + ".embedding_length", 16)
      .Uint32(architecture + ".feed_forward_length", 24);
  writer.Uint32(architecture + ".attention.head_count", 4)
      .Uint32(architecture + ".attention.head_count_kv", 2);
  writer.Float32(architecture + ".attention.layer_norm_" + epsilon, 1e-5f);
  writer.Uint32(architecture + ".vocab_size", 259);
  return writer;
}

ModelConfig Config(const GgufWriter& writer) {
  const test::TemporaryFile file(writer.Bytes());
  return ReadGgufConfig(GgufFile(file.path()));
}

std::string ConfigError(const GgufWriter& writer) {
  return test::ErrorMessage([&] { Config(writer); });
}

std::vector<int64_t> WindowsOf(const ModelConfig& config) {
  std::vector<int64_t> windows;
  for (const LayerAttention& layer : config.attention) windows.push_back(layer.window);
  return windows;
}

TEST(GgufFamilies, WindowsAreInTheLayersThatThePatternNames) {
  const std::string pattern = "olmo2.attention.sliding_window_pattern";
  GgufWriter writer = Metadata("olmo2");
  EXPECT_EQ(WindowsOf(Config(writer)), std::vector<int64_t>(8, 0));
  writer.Uint32("olmo2.attention.sliding_window", 9);
  EXPECT_EQ(WindowsOf(Config(writer)), (std::vector<int64_t>{9, 9, 9, 0, 9, 9, 9, 0}));
  writer.Uint32(pattern, 2);
  EXPECT_EQ(WindowsOf(Config(writer)), (std::vector<int64_t>{9, 0, 9, 0, 9, 0, 9, 0}));
  writer.Remove(pattern).RawArray(pattern, GgufType::kBool, 8, std::string("\1\0\0\0\0\1\1\0", 8));
  const ModelConfig config = Config(writer);
  EXPECT_EQ(WindowsOf(config), (std::vector<int64_t>{9, 0, 0, 0, 0, 9, 9, 0}));
  EXPECT_TRUE(config.attention[0].local);
  EXPECT_FALSE(config.attention[1].local);
  writer.Remove(pattern).RawArray(pattern, GgufType::kBool, 7, std::string(7, '\1'));
  EXPECT_THAT(ConfigError(writer), HasSubstr("names 7 layers; the model has 8"));
  writer.Remove(pattern).RawArray(pattern, GgufType::kFloat32, 8, std::string(32, '\0'));
  EXPECT_THAT(ConfigError(writer), HasSubstr("must be an array of bool"));
}

TEST(GgufFamilies, LayersWithoutAWindowHaveNoPositionsWhereTheFamilySaysSo) {
  GgufWriter exaone = Metadata("exaone4");
  EXPECT_TRUE(Config(exaone).attention[3].rotary);
  exaone.Uint32("exaone4.attention.sliding_window", 9);
  EXPECT_FALSE(Config(exaone).attention[3].rotary);
  EXPECT_TRUE(Config(exaone).attention[2].rotary);
  GgufWriter cohere = Metadata("cohere2", "epsilon");
  cohere.Float32("cohere2.logit_scale", 0.25f);
  EXPECT_THAT(ConfigError(cohere), HasSubstr("cohere2.attention.sliding_window is missing"));
  cohere.Uint32("cohere2.attention.sliding_window", 9);
  EXPECT_FALSE(Config(cohere).attention[7].rotary);
  EXPECT_TRUE(Config(cohere).attention[0].rotary);
}

TEST(GgufFamilies, StarCoder2HasTheWindowOfPublishedModelsWhereTheFileSaysNone) {
  GgufWriter writer = Metadata("starcoder2", "epsilon", 2);
  const ModelConfig config = Config(writer);
  EXPECT_EQ(WindowsOf(config), (std::vector<int64_t>{4096, 4096}));
  ASSERT_EQ(config.notes.size(), 1u);
  EXPECT_THAT(config.notes[0], HasSubstr("it is run with 4096"));
  writer.Uint32("starcoder2.attention.sliding_window", 9);
  EXPECT_EQ(WindowsOf(Config(writer)), (std::vector<int64_t>{9, 9}));
  EXPECT_TRUE(Config(writer).notes.empty());
}

TEST(GgufFamilies, GraniteReadsItsFactors) {
  GgufWriter writer = Metadata("granite");
  EXPECT_THAT(ConfigError(writer), HasSubstr("granite.logit_scale is missing"));
  writer.Float32("granite.logit_scale", 8.0f);
  EXPECT_EQ(Config(writer).output_scale, 0.125);
  EXPECT_EQ(Config(writer).logit_scale, 0.0);
  EXPECT_EQ(Config(writer).embedding_scale, 1.0);
  EXPECT_EQ(Config(writer).update_scale, 1.0);
  writer.Float32("granite.attention.scale", 0.5f).Float32("granite.embedding_scale", 12.0f);
  writer.Float32("granite.residual_scale", 0.25f).Bool("granite.rope.scaling.finetuned", true);
  EXPECT_EQ(Config(writer).logit_scale, 0.5);
  EXPECT_EQ(Config(writer).embedding_scale, 12.0);
  EXPECT_EQ(Config(writer).update_scale, 0.25);
  writer.Remove("granite.rope.scaling.finetuned").Bool("granite.rope.scaling.finetuned", false);
  EXPECT_EQ(Config(writer).positions, PositionKind::kNone);
}

TEST(GgufFamilies, YarnsAttentionFactorIsThatOfLlamaCpp) {
  GgufWriter writer = Metadata("olmo2");
  writer.String("olmo2.rope.scaling.type", "yarn").Float32("olmo2.rope.scaling.factor", 8.0f);
  const double formula = 0.1 * std::log(8.0) + 1.0;
  EXPECT_NEAR(Config(writer).rope_scaling.attention_factor, formula, 1e-12);
  // OLMo 3's files repeat what the formula gives.
  const std::string own = "olmo2.rope.scaling.yarn_attn_factor";
  writer.Float32(own, 1.2079442f);
  EXPECT_NEAR(Config(writer).rope_scaling.attention_factor, formula, 1e-12);
  writer.Remove(own).Float32(own, 1.5f);
  EXPECT_THAT(ConfigError(writer), HasSubstr("yarn_attn_factor is 1.5 where 1.2079"));
  writer.Remove(own).Float32("olmo2.rope.scaling.yarn_log_multiplier", 1.0f);
  EXPECT_NEAR(Config(writer).rope_scaling.attention_factor, 1.0, 1e-12);
  writer.Float32("olmo2.rope.scaling.yarn_ext_factor", 0.5f);
  EXPECT_THAT(ConfigError(writer), HasSubstr("yarn_ext_factor is 0.5, which is not supported"));
}

TEST(GgufFamilies, Ministral3ReadsHowItsQueriesGrow) {
  GgufWriter writer = Metadata("mistral3");
  EXPECT_EQ(Config(writer).query_growth, 0.0);
  writer.Float32("mistral3.attention.temperature_scale", 0.1f);
  EXPECT_THAT(ConfigError(writer), HasSubstr("original_context_length is missing"));
  writer.Uint32("mistral3.rope.scaling.original_context_length", 16);
  EXPECT_NEAR(Config(writer).query_growth, 0.1, 1e-7);
  EXPECT_EQ(Config(writer).query_growth_context, 16.0);
}

TEST(GgufFamilies, ACountOfNoExpertsIsTaken) {
  GgufWriter writer = Metadata("olmo2");
  EXPECT_EQ(Config(writer.Uint32("olmo2.expert_count", 0)).experts.count, 0);
  writer.Remove("olmo2.expert_count").Uint32("olmo2.expert_count", 4);
  EXPECT_THAT(ConfigError(writer), HasSubstr("olmo2.expert_count is 4, which is not supported"));
}

}  // namespace
}  // namespace midscope
