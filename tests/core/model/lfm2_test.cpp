// SPDX-License-Identifier: MIT
// Values read from config.json and GGUF files of LFM2, and what is refused. Their numbers are held
// against transformers in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/model/model_source.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::AttendingLayers;
using test::ConfigWith;
using test::ErrorWith;
using test::OpenErrorWith;
using ::testing::HasSubstr;

TEST(Lfm2, LayersAreThoseOfEitherKey) {
  EXPECT_EQ(AttendingLayers(ConfigWith("lfm2", {})), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(AttendingLayers(ConfigWith("lfm2", {{"layer_types", nullptr}})),
            (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(
      AttendingLayers(ConfigWith("lfm2", {{"layer_types", nullptr}, {"full_attn_idxs", {2}}})),
      (std::vector<int64_t>{2}));
  EXPECT_THAT(ErrorWith("lfm2-moe", {{"layer_types", nullptr}}), HasSubstr("layer_types"));
}

TEST(Lfm2, AbsentKeysHaveTheDefaultsOfTransformers) {
  const ModelConfig config = ConfigWith("lfm2", {{"conv_L_cache", nullptr},
                                                 {"norm_eps", nullptr},
                                                 {"num_key_value_heads", 2},
                                                 {"rope_parameters", nullptr},
                                                 {"tie_word_embeddings", nullptr}});
  EXPECT_EQ(config.convolution.taps, 3);
  EXPECT_EQ(config.norm_epsilon, 1e-5);
  EXPECT_EQ(config.rope_base, 1e6);
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_FALSE(ConfigWith("lfm2", {{"tie_embedding", false}}).tied_embeddings);
  const ExpertSettings experts =
      ConfigWith("lfm2-moe", {{"num_dense_layers", nullptr}, {"norm_topk_prob", nullptr}}).experts;
  EXPECT_EQ(experts.layers, (std::vector<bool>{false, false, true, true}));
  EXPECT_TRUE(experts.normalised);
  EXPECT_TRUE(experts.choice_bias);
}

TEST(Lfm2, TheWidthOfTheMlpIsAdjustedAsInTransformers) {
  const auto width = [](const nlohmann::json& changes) {
    return ConfigWith("lfm2", changes).feed_forward;
  };
  EXPECT_EQ(width({}), 49);  // 60: 40, 48, 49
  EXPECT_EQ(width({{"block_ff_dim", 6656},
                   {"block_ffn_dim_multiplier", 1.0},
                   {"block_multiple_of", nullptr}}),
            4608);
  EXPECT_EQ(width({{"block_ffn_dim_multiplier", "null"}}), 40);
  EXPECT_EQ(width({{"block_auto_adjust_ff_dim", false}}), 60);
}

TEST(Lfm2, RefusesWhatItDoesNotFollow) {
  EXPECT_THAT(ErrorWith("lfm2", {{"layer_types", {"conv", "conv", "conv", "conv"}}}),
              HasSubstr("none of its layers has attention"));
  EXPECT_THAT(OpenErrorWith("lfm2", {{"conv_bias", false}}), HasSubstr("has no place"));
  EXPECT_THAT(OpenErrorWith("lfm2", {{"conv_L_cache", 4}}), HasSubstr("[36, 1, 4]"));
}

TEST(Lfm2, GgufLayersWithoutKeyHeadsAreConvolutions) {
  const auto model = OpenModel(test::TinyModelPath("gguf-lfm2-moe"));
  EXPECT_EQ(AttendingLayers(model->config()), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(model->config().key_value_heads, 3);
  EXPECT_THAT(model->config().notes.front(), HasSubstr("a gated convolution mixes their tokens"));
}

}  // namespace
}  // namespace midscope
