// SPDX-License-Identifier: MIT
#include "core/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/embedded_model.h"
#include "tests/core/error_message.h"
#include "tests/core/gguf_writer.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::GgufWriter;
using test::TemporaryFile;
using test::TinyMetadata;
using test::TinyModel;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ConfigError(const GgufWriter& writer) {
  const TemporaryFile temporary(writer.Bytes());
  return ErrorMessage([&] {
    const GgufFile file(temporary.path());
    CheckTensorShapes(file, ReadModelConfig(file));
  });
}

// The tiny model with one metadata number changed or added.
std::string WithNumber(const std::string& key, uint32_t value) {
  GgufWriter writer = TinyModel();
  return ConfigError(writer.Remove(key).Uint32(key, value));
}

std::string WithFloat(const std::string& key, float value) {
  GgufWriter writer = TinyModel();
  return ConfigError(writer.Remove(key).Float32(key, value));
}

TEST(ModelConfig, ReadsTheEmbeddedModel) {
  const GgufFile file(ModelPath("embedded"));
  const ModelConfig config = ReadModelConfig(file);
  EXPECT_EQ(config.architecture, "llama");
  EXPECT_EQ(config.layers, 30);
  EXPECT_EQ(config.heads, 9);
  EXPECT_EQ(config.key_value_heads, 3);
  EXPECT_EQ(config.heads_per_key_value_head(), 3);
  EXPECT_EQ(config.head_dim, 64);
  EXPECT_EQ(config.hidden, 576);
  EXPECT_EQ(config.feed_forward, 1536);
  EXPECT_EQ(config.vocabulary, 49152);
  EXPECT_EQ(config.trained_context, 8192);
  EXPECT_EQ(config.rope_base, 100000.0);
  EXPECT_EQ(config.rope_dimensions, 64);
  EXPECT_NEAR(config.rms_norm_epsilon, 1e-5, 1e-12);
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_EQ(config.quantisation, "Q4_1");
  EXPECT_EQ(config.parameters, 134515008);
  EXPECT_NO_THROW(CheckTensorShapes(file, config));
}

TEST(ModelConfig, ReadsATinyModel) {
  const TemporaryFile temporary(TinyModel().Bytes());
  const GgufFile file(temporary.path());
  const ModelConfig config = ReadModelConfig(file);
  EXPECT_EQ(config.head_dim, 4);
  EXPECT_EQ(config.vocabulary, 259);
  EXPECT_EQ(config.quantisation, "F32");
  EXPECT_EQ(config.name, "tiny");
}

TEST(ModelConfig, SaysWhichArchitecturesAreSupported) {
  GgufWriter writer = TinyModel();
  writer.Remove("general.architecture").String("general.architecture", "qwen2");
  EXPECT_THAT(ConfigError(writer),
              AllOf(HasSubstr("'qwen2' is not supported yet"), HasSubstr("Supported: llama")));
  EXPECT_THAT(ConfigError(writer.Remove("general.architecture")),
              HasSubstr("general.architecture is missing"));
}

TEST(ModelConfig, RefusesRopeScaling) {
  GgufWriter yarn = TinyModel();
  yarn.String("llama.rope.scaling.type", "yarn");
  EXPECT_THAT(ConfigError(yarn), HasSubstr("rope scaling 'yarn' is not supported yet"));
  GgufWriter none = TinyModel();
  none.String("llama.rope.scaling.type", "none");
  EXPECT_EQ(ConfigError(none), "");
  EXPECT_THAT(WithFloat("llama.rope.scale_linear", 2.0f),
              HasSubstr("llama.rope.scale_linear is 2.0"));
  EXPECT_THAT(WithFloat("llama.rope.scaling.factor", 4.0f),
              HasSubstr("rope scaling is not supported"));
  EXPECT_THAT(ConfigError(TinyModel().Float32Tensor("rope_freqs.weight", {2}, {1, 8})),
              HasSubstr("the tensor rope_freqs.weight"));
}

TEST(ModelConfig, RefusesNumbersThatCannotBe) {
  EXPECT_THAT(WithNumber("llama.attention.head_count_kv", 3),
              HasSubstr("4 heads can't share 3 key-value heads"));
  EXPECT_THAT(WithNumber("llama.attention.head_count_kv", 8), HasSubstr("4 heads can't share 8"));
  EXPECT_THAT(WithNumber("llama.attention.head_count", 0),
              HasSubstr("head_count is 0; it must be from 1"));
  EXPECT_THAT(WithNumber("llama.attention.head_count", UINT32_MAX), HasSubstr("it must be from 1"));
  EXPECT_THAT(WithNumber("llama.embedding_length", 18),
              HasSubstr("a width of 18 is not a multiple of 4 heads"));
  EXPECT_THAT(WithNumber("llama.rope.dimension_count", 2), HasSubstr("rotating 2 of 4 dimensions"));
  EXPECT_THAT(WithNumber("llama.attention.value_length", 8),
              HasSubstr("keys of 4 and values of 8"));
  EXPECT_THAT(WithNumber("llama.vocab_size", 300),
              HasSubstr("its tokenizer has 259 tokens, the model 300"));
  EXPECT_THAT(WithNumber("llama.expert_count", 8),
              HasSubstr("llama.expert_count is 8, which is not supported yet"));
  EXPECT_THAT(WithNumber("llama.context_length", 0), HasSubstr("context_length is 0"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(WithFloat("llama.rope.freq_base", nan), HasSubstr("must be a positive number"));
  EXPECT_THAT(WithFloat("llama.attention.layer_norm_rms_epsilon", -1.0f),
              HasSubstr("must be a positive number"));
  EXPECT_THAT(WithFloat("llama.logit_scale", 0.5f), HasSubstr("llama.logit_scale is set"));
  GgufWriter missing = TinyModel();
  EXPECT_THAT(ConfigError(missing.Remove("llama.block_count")),
              HasSubstr("llama.block_count is missing"));
}

TEST(ModelConfig, RefusesTensorsThatDoNotFit) {
  EXPECT_THAT(WithNumber("llama.feed_forward_length", 32),
              HasSubstr("has shape [16, 24]; the model needs [16, 32]"));
  EXPECT_THAT(WithNumber("llama.block_count", 3), HasSubstr("has no tensor 'blk.2.attn_k.weight'"));
  EXPECT_THAT(WithNumber("llama.block_count", 1),
              HasSubstr("has no place in a llama decoder of 1 layers"));
  EXPECT_THAT(
      ConfigError(TinyModel().Float32Tensor("blk.0.attn_q.bias", {16}, std::vector<float>(16))),
      HasSubstr("tensor 'blk.0.attn_q.bias' has no place"));
  EXPECT_THAT(ConfigError(TinyMetadata()), HasSubstr("has no tensor"));
}

}  // namespace
}  // namespace midscope
