// SPDX-License-Identifier: MIT
// DeepSeek V2 and V3: values read from keys of config.json, their defaults, and features that do
// not apply to latent keys. The numbers of complete models are tested in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/decoder/decoder.h"
#include "core/decoder/trace.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/changed_config.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::ErrorMessage;
using test::ErrorWith;
using test::OpenErrorWith;
using test::TinyModelFolder;
using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(Deepseek, ReadsDefaultsOfV3) {
  const ModelConfig config = ConfigWith("deepseek-v3", {{"kv_lora_rank", nullptr},
                                                        {"q_lora_rank", nullptr},
                                                        {"qk_nope_head_dim", nullptr},
                                                        {"qk_rope_head_dim", nullptr},
                                                        {"v_head_dim", nullptr},
                                                        {"n_group", nullptr},
                                                        {"topk_group", nullptr},
                                                        {"n_routed_experts", nullptr},
                                                        {"num_local_experts", nullptr},
                                                        {"moe_intermediate_size", nullptr},
                                                        {"n_shared_experts", nullptr},
                                                        {"first_k_dense_replace", nullptr}});
  EXPECT_EQ(config.latent.rank, 512);
  EXPECT_EQ(config.latent.query_rank, 1536);
  EXPECT_EQ(config.latent.plain, 128);
  EXPECT_EQ(config.latent.value, 128);
  EXPECT_EQ(config.rope_dimensions, 64);
  EXPECT_EQ(config.head_dim, 576);
  EXPECT_EQ(config.key_value_heads, 1);
  EXPECT_EQ(config.experts.groups, 8);
  EXPECT_EQ(config.experts.groups_per_row, 4);
  EXPECT_EQ(config.experts.count, 256);
  EXPECT_EQ(config.experts.width, 2048);
  EXPECT_EQ(config.experts.shared_width, 2048);
  EXPECT_FALSE(config.experts.In(2));
}

TEST(Deepseek, YoutuHasNoExperts) {
  const ModelConfig config = ConfigWith("youtu", {{"tie_word_embeddings", nullptr}});
  EXPECT_EQ(config.experts.count, 0);
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_EQ(ConfigWith("youtu", {{"kv_lora_rank", nullptr}}).latent.rank, 512);
}

// Mistral Small 4, the text part of a `mistral3`.
TEST(Deepseek, QueriesOfMistral4Grow) {
  const Json rope = {{"rope_type", "yarn"},
                     {"factor", 128.0},
                     {"original_max_position_embeddings", 8192},
                     {"mscale", 1.0},
                     {"mscale_all_dim", 1.0},
                     {"partial_rotary_factor", 0.5},
                     {"llama_4_scaling_beta", 0.1}};
  const Json text = {{"model_type", "mistral4"}, {"rope_parameters", rope}};
  const ModelConfig config = ConfigWith("mistral4", {{"text_config", text}});
  EXPECT_EQ(config.query_growth, 0.1);
  EXPECT_EQ(config.query_growth_context, 8192.0);
  EXPECT_EQ(config.latent.rank, 256);
  EXPECT_EQ(config.latent.query_rank, 1024);
  EXPECT_EQ(config.rope_dimensions, 64);
  EXPECT_EQ(config.rope_scaling.attention_factor, 1.0);
  EXPECT_EQ(config.experts.score, ExpertScore::kSoftmax);
  EXPECT_EQ(config.experts.count, 128);
  EXPECT_EQ(config.experts.per_row, 4);
  EXPECT_EQ(config.experts.shared_width, 2048);
  EXPECT_TRUE(config.experts.normalised);
  Json other = text;
  other["rope_parameters"]["partial_rotary_factor"] = 0.25;
  EXPECT_THAT(ErrorWith("mistral4", {{"text_config", other}}),
              HasSubstr("is not the rotated share of a head"));
  other.erase("rope_parameters");
  EXPECT_THAT(ErrorWith("mistral4", {{"text_config", other}}), HasSubstr("has no rope_parameters"));
}

TEST(Deepseek, YarnScalesLogits) {
  const ModelConfig config = ConfigWith("deepseek-v2-groups", {});
  const double magnitude = 0.1 * 0.9 * std::log(4.0) + 1.0;
  EXPECT_NEAR(config.logit_scale, magnitude * magnitude / std::sqrt(14.0), 1e-12);
  EXPECT_NEAR(ConfigWith("deepseek-v2", {}).logit_scale, 1 / std::sqrt(14.0), 1e-12);
  EXPECT_TRUE(config.experts.groups_by_largest);
}

TEST(Deepseek, RefusesWhatItDoesNotFollow) {
  EXPECT_THAT(ErrorWith("deepseek-v2", {{"topk_method", "noaux_tc"}}),
              HasSubstr("Supported: greedy, group_limited_greedy"));
  EXPECT_THAT(ErrorWith("deepseek-v3", {{"scoring_func", "softmax"}}), HasSubstr("scoring_func"));
  EXPECT_THAT(ErrorWith("deepseek-v3", {{"qk_rope_head_dim", 5}}), HasSubstr("even"));
  EXPECT_THAT(ErrorWith("deepseek-v3", {{"v_head_dim", 1 << 20}}), HasSubstr("are too wide"));
  EXPECT_THAT(ErrorWith("deepseek-v3", {{"kv_lora_rank", 0}}), HasSubstr("kv_lora_rank"));
  EXPECT_THAT(ErrorWith("deepseek-v3", {{"n_group", 3}}), HasSubstr("8 experts cannot be chosen"));
  EXPECT_THAT(OpenErrorWith("deepseek-v3", {{"q_lora_rank", "null"}}),
              HasSubstr("has no tensor 'model.layers.0.self_attn.q_proj.weight'"));
}

// Layers cache latent keys of a token, whatever the heads.
TEST(Deepseek, TracesHoldLatentKeys) {
  const auto latent = Decoder::Open(TinyModelFolder("deepseek-v3"), {kernels::Dtype::kFloat32, 1});
  const ModelConfig& config = latent->config();
  const int64_t tokens = 64;
  const int64_t keys_and_values = config.layers * tokens * 2 * (14 + 6) * 4;
  const int64_t expanded = config.layers * tokens * config.heads * (14 + 9) * 4;
  const int64_t bytes = latent->MakeTrace(tokens, /*residual=*/false)->bytes();
  EXPECT_GE(bytes, keys_and_values);
  EXPECT_LT(bytes, expanded);
}

TEST(Deepseek, RefusesAMemoryOfKeysOfHeads) {
  const auto decoder = Decoder::Open(TinyModelFolder("deepseek-v3"), {kernels::Dtype::kFloat32, 1});
  const std::vector<int32_t> ids(20, 1);
  RunRequest request;
  request.ids = ids;
  request.intervention = ParseIntervention("infini(segment=8, gate=0.5)");
  EXPECT_THAT(ErrorMessage([&] { decoder->RunOne(request); }), HasSubstr("keys are latent"));
}

}  // namespace
}  // namespace midscope
