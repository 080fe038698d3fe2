// SPDX-License-Identifier: MIT
// Llama 4: values read from keys of config.json, their defaults, and its attention chunks. The
// numbers of complete models are tested in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::Difference;
using test::ErrorWith;
using test::TinyModelFolder;
using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(Llama4, ReadsDefaults) {
  const ModelConfig config = ConfigWith("llama4", {{"no_rope_layers", nullptr},
                                                   {"layer_types", nullptr},
                                                   {"moe_layers", nullptr},
                                                   {"attention_chunk_size", nullptr},
                                                   {"interleave_moe_layer_step", nullptr},
                                                   {"use_qk_norm", nullptr},
                                                   {"attn_temperature_tuning", nullptr},
                                                   {"floor_scale", nullptr},
                                                   {"attn_scale", nullptr}});
  EXPECT_EQ(config.attention[0].chunk, 8192);
  EXPECT_TRUE(config.attention[2].rotary);
  EXPECT_FALSE(config.attention[3].rotary);
  EXPECT_EQ(config.attention[3].chunk, 0);
  EXPECT_TRUE(config.experts.In(0) && config.experts.In(3));
  EXPECT_TRUE(config.norm_after_rotation && config.plain_query_key_norm);
  EXPECT_EQ(config.query_growth, 0.1);
  EXPECT_EQ(config.query_growth_context, 8192.0);
  EXPECT_FALSE(ConfigWith("llama4-plain", {}).norm_after_rotation);
  EXPECT_EQ(ConfigWith("llama4-plain", {}).query_growth, 0.0);
}

TEST(Llama4, ReadsWhichLayersAreWhat) {
  const ModelConfig config = ConfigWith(
      "llama4", {{"moe_layers", {3}},
                 {"no_rope_layers", {0, 1, 1, 1, 1}},
                 {"layer_types",
                  {"full_attention", "full_attention", "chunked_attention", "full_attention"}}});
  EXPECT_FALSE(config.experts.In(0) || config.experts.In(1) || config.experts.In(2));
  EXPECT_TRUE(config.experts.In(3));
  EXPECT_FALSE(config.attention[0].rotary);
  EXPECT_EQ(config.attention[2].chunk, 13);
  EXPECT_EQ(config.attention[1].chunk, 0);
  EXPECT_EQ(ConfigWith("llama4", {{"attention_chunk_size", "null"}}).attention[0].chunk, 0);
}

TEST(Llama4, RefusesWhatContradictsItself) {
  EXPECT_THAT(ErrorWith("llama4", {{"no_rope_layers", {1, 1}}}), HasSubstr("names 2 layers"));
  EXPECT_THAT(ErrorWith("llama4", {{"layer_types", {"full_attention"}}}),
              HasSubstr("layer_types names 1 layers"));
  EXPECT_THAT(ErrorWith("llama4",
                        {{"layer_types", Json(std::vector<std::string>(4, "sliding_attention"))}}),
              HasSubstr("Supported: full_attention, chunked_attention"));
  EXPECT_THAT(ErrorWith("llama4", {{"attention_chunk_size", -1}}),
              HasSubstr("attention_chunk_size"));
  EXPECT_THAT(ErrorWith("llama4", {{"num_experts_per_tok", 6}}),
              HasSubstr("6 of 5 experts cannot be chosen"));
}

std::vector<float> LastAttention(const Decoder& decoder, const std::string& setting, int64_t rows) {
  LastQueryAttention attention(decoder.config());
  std::vector<int32_t> ids = test::SomeTinyIds(rows);
  RunRequest request;
  request.ids = ids;
  request.intervention = ParseIntervention(setting);
  request.hooks = {&attention};
  decoder.RunOne(request);
  return attention.attention();
}

// Chunks of 13: row 30 sees keys 26 to 30 in the layers that have them.
TEST(Llama4, ChunksHideWhatComesBeforeThem) {
  const auto decoder = Decoder::Open(TinyModelFolder("llama4"), {kernels::Dtype::kFloat32, 1});
  const int64_t keys = 31;
  const std::vector<float> weights = LastAttention(*decoder, "none", keys);
  const int64_t heads = decoder->config().heads;
  for (int64_t layer = 0; layer < decoder->config().layers; ++layer) {
    const bool chunked = layer != 3;
    for (int64_t key = 0; key < keys; ++key) {
      const float weight = weights[static_cast<size_t>(layer * heads * keys + key)];
      EXPECT_EQ(weight == 0.0f, chunked && key < 26) << layer << " " << key;
    }
  }
}

TEST(Llama4, ChunksCanBeTakenAway) {
  const auto decoder = Decoder::Open(TinyModelFolder("llama4"), {kernels::Dtype::kFloat32, 1});
  const auto without =
      Decoder::Open(TinyModelFolder("llama4"), {kernels::Dtype::kFloat32, 1, /*window=*/false});
  const std::vector<float> plain = LastAttention(*without, "none", 31);
  EXPECT_LE(Difference(LastAttention(*decoder, "attend(all)", 31), plain), 1e-6);
  EXPECT_GT(Difference(LastAttention(*decoder, "none", 31), plain), 1e-2);
  EXPECT_THAT(
      test::ErrorMessage([&] { LastAttention(*decoder, "infini(segment=8, gate=0.5)", 31); }),
      HasSubstr("sees its own chunk of 13 keys alone"));
}

}  // namespace
}  // namespace midscope
