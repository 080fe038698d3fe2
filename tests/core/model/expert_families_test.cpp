// SPDX-License-Identifier: MIT
// Families with experts: values read from keys of config.json and from metadata, their defaults,
// and rejected values. The numbers of complete models are tested in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/formats/gguf_file.h"
#include "core/model/folder_model.h"
#include "core/model/gguf_model.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/core/support/safetensors_parts.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::ErrorWith;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using Json = nlohmann::json;
using SparseLayers = std::vector<bool>;

TEST(ExpertFamilies, Qwen3VlReadsItsText) {
  const ModelConfig config = ConfigWith("qwen3-vl-moe", {{"text_config", Json::object()}});
  EXPECT_EQ(config.layers, 24);
  EXPECT_EQ(config.hidden, 2048);
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.key_value_heads, 16);
  EXPECT_EQ(config.rope_base, 500000.0);
  EXPECT_EQ(config.experts.count, 60);
  EXPECT_EQ(config.experts.per_row, 4);
  EXPECT_EQ(config.experts.width, 1408);
  EXPECT_EQ(config.experts.layers, SparseLayers(24, true));
  EXPECT_TRUE(config.experts.normalised);
  EXPECT_FALSE(config.tied_embeddings);
  const Json text = {{"num_hidden_layers", 3}, {"decoder_sparse_step", 3}, {"num_experts", 8}};
  EXPECT_EQ(ConfigWith("qwen3-vl-moe", {{"text_config", text}}).experts.layers,
            (SparseLayers{false, false, true}));
  Json two = text;
  two["num_local_experts"] = 7;
  EXPECT_THAT(ErrorWith("qwen3-vl-moe", {{"text_config", two}}), HasSubstr("differ"));
}

// Each matrix [rows, columns] of a tensor of 16-bit elements becomes [columns, rows].
test::SafetensorsPart Transposed(const test::SafetensorsPart& part) {
  test::SafetensorsPart out = part;
  const auto rows = static_cast<size_t>(part.shape[1]);
  const auto columns = static_cast<size_t>(part.shape[2]);
  out.shape = {part.shape[0], part.shape[2], part.shape[1]};
  for (size_t at = 0; at < part.bytes.size() / 2; ++at) {
    const size_t within = at % (rows * columns);
    const size_t to = at - within + within % columns * rows + within / columns;
    out.bytes.replace(2 * to, 2, part.bytes, 2 * at, 2);
  }
  return out;
}

// As published; transformers 5 saves them as the tiny model has them.
TEST(ExpertFamilies, Qwen3VlTakesTransposedExperts) {
  const TemporaryFolder folder(test::TinyModelFolder("qwen3-vl-moe"));
  test::SafetensorsParts parts = test::ReadSafetensors(folder.Read("model.safetensors"));
  int transposed = 0;
  for (auto& [name, part] : parts) {
    if (name.find(".experts.") == std::string::npos) continue;
    part = Transposed(part);
    ++transposed;
  }
  EXPECT_EQ(transposed, 2);
  folder.Write("model.safetensors", test::WriteSafetensors(parts));
  const auto plain = OpenFolderModel(test::TinyModelFolder("qwen3-vl-moe"));
  const auto published = OpenFolderModel(folder.path());
  EXPECT_GT(published->config().copied_bytes, plain->config().copied_bytes);
  for (const char* name : {"1.experts.0.gate", "1.experts.3.up", "1.experts.6.down"}) {
    const TensorRef& a = *plain->Find(name);
    const TensorRef& b = *published->Find(name);
    ASSERT_EQ(a.rows, b.rows) << name;
    ASSERT_EQ(a.row_bytes, b.row_bytes) << name;
    EXPECT_EQ(std::memcmp(a.data, b.data, static_cast<size_t>(a.rows * a.row_bytes)), 0) << name;
  }
}

TEST(ExpertFamilies, Ernie45ReadsWhichLayersHaveExperts) {
  const auto layers = [](const Json& changes) {
    return ConfigWith("ernie4-5-moe", changes).experts.layers;
  };
  EXPECT_EQ(layers({}), (SparseLayers{false, true, true, false}));
  EXPECT_EQ(layers({{"moe_layer_end_index", -1}}), (SparseLayers{false, true, true, true}));
  EXPECT_EQ(layers({{"moe_layer_end_index", nullptr}}), (SparseLayers{false, true, true, true}));
  EXPECT_EQ(layers({{"moe_layer_start_index", 0}, {"moe_layer_end_index", 0}}),
            (SparseLayers{true, false, false, false}));
  EXPECT_EQ(layers({{"moe_layer_interval", 2}, {"moe_layer_end_index", -1}}),
            (SparseLayers{false, true, false, true}));
}

TEST(ExpertFamilies, Ernie45ReadsDefaultsAndRefusesBiases) {
  const ModelConfig config = ConfigWith("ernie4-5-moe", {{"moe_num_experts", nullptr},
                                                         {"moe_k", nullptr},
                                                         {"moe_intermediate_size", nullptr},
                                                         {"moe_num_shared_experts", nullptr},
                                                         {"rope_parameters", nullptr},
                                                         {"tie_word_embeddings", nullptr},
                                                         {"rms_norm_eps", nullptr}});
  EXPECT_EQ(config.experts.count, 64);
  EXPECT_EQ(config.experts.per_row, 6);
  EXPECT_EQ(config.experts.width, 1536);
  EXPECT_EQ(config.experts.shared_width, 3072);
  EXPECT_EQ(config.rope_base, 500000.0);
  EXPECT_EQ(config.norm_epsilon, 1e-5);
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_TRUE(config.experts.normalised);
  EXPECT_TRUE(config.experts.choice_bias);
  EXPECT_EQ(ConfigWith("ernie4-5-moe", {{"moe_num_shared_experts", 0}}).experts.shared_width, 0);
  EXPECT_THAT(ErrorWith("ernie4-5-moe", {{"use_bias", true}}), HasSubstr("use_bias is true"));
  EXPECT_THAT(ErrorWith("ernie4-5-moe", {{"moe_norm_min", 0.5}}), HasSubstr("moe_norm_min"));
}

// Published folders hold layers that predict later tokens, which transformers ignores.
TEST(ExpertFamilies, Ernie45LeavesOutLayersThatPredictLaterTokens) {
  const TemporaryFolder folder(test::TinyModelFolder("ernie4-5-moe"));
  test::SafetensorsParts parts = test::ReadSafetensors(folder.Read("model.safetensors"));
  parts["model.mtp_block.0.input_layernorm.weight"] = parts.at("model.norm.weight");
  folder.Write("model.safetensors", test::WriteSafetensors(parts));
  EXPECT_EQ(test::ErrorMessage([&] { OpenFolderModel(folder.path()); }), "");
}

TEST(ExpertFamilies, Dots1ReadsDefaults) {
  const ModelConfig config = ConfigWith("dots1", {{"n_group", nullptr},
                                                  {"topk_group", nullptr},
                                                  {"routed_scaling_factor", nullptr},
                                                  {"norm_topk_prob", nullptr},
                                                  {"first_k_dense_replace", nullptr},
                                                  {"num_key_value_heads", nullptr},
                                                  {"num_attention_heads", nullptr},
                                                  {"moe_intermediate_size", nullptr}});
  EXPECT_EQ(config.heads, 32);
  EXPECT_EQ(config.key_value_heads, 32);
  EXPECT_EQ(config.experts.groups, 1);
  EXPECT_EQ(config.experts.groups_per_row, 1);
  EXPECT_EQ(config.experts.scale, 1.0);
  EXPECT_FALSE(config.experts.normalised);
  EXPECT_EQ(config.experts.layers, SparseLayers(3, true));
  EXPECT_EQ(config.experts.shared_width, 2 * 1408);
  for (const char* key : {"n_routed_experts", "num_experts_per_tok", "n_shared_experts"})
    EXPECT_THAT(ErrorWith("dots1", {{key, nullptr}}), HasSubstr("is missing"));
}

TEST(ExpertFamilies, Dots1HasWindowsInItsLastLayers) {
  const auto window = [](const Json& changes, size_t layer) {
    return ConfigWith("dots1", changes).attention[layer].window;
  };
  EXPECT_EQ(window({}, 1), 0);
  EXPECT_EQ(window({}, 2), 11);
  const Json by_rule = {{"layer_types", nullptr}, {"sliding_window", nullptr}};
  EXPECT_EQ(window(by_rule, 1), 0);
  EXPECT_EQ(window(by_rule, 2), 4096);
  EXPECT_EQ(window({{"layer_types", nullptr}, {"max_window_layers", nullptr}}, 2), 0);
  EXPECT_EQ(window({{"sliding_window", "null"}}, 2), 0);
}

TEST(ExpertFamilies, MiniMaxM2ReadsHowMuchOfAHeadIsRotated) {
  EXPECT_EQ(ConfigWith("minimax-m2", {}).rope_dimensions, 6);
  const ModelConfig published = ConfigWith(
      "minimax-m2", {{"rope_parameters", nullptr}, {"rotary_dim", 4}, {"rope_theta", 300.0}});
  EXPECT_EQ(published.rope_dimensions, 4);
  EXPECT_EQ(published.rope_base, 300.0);
  const ModelConfig plain = ConfigWith("minimax-m2", {{"rope_parameters", nullptr},
                                                      {"num_local_experts", nullptr},
                                                      {"num_experts_per_tok", nullptr},
                                                      {"head_dim", nullptr}});
  EXPECT_EQ(plain.rope_dimensions, 128);
  EXPECT_EQ(plain.rope_base, 5e6);
  EXPECT_EQ(plain.experts.count, 256);
  EXPECT_EQ(plain.experts.per_row, 8);
  EXPECT_EQ(plain.experts.score, ExpertScore::kSigmoid);
  EXPECT_THAT(ErrorWith("minimax-m2", {{"rotary_dim", 12}}), HasSubstr("rotary_dim is 12"));
}

TEST(ExpertFamilies, HunyuanTakesOneNumberForEachLayer) {
  EXPECT_EQ(ConfigWith("hunyuan-moe", {}).experts.per_row, 2);
  EXPECT_EQ(ConfigWith("hunyuan-moe", {{"moe_topk", 3}}).experts.per_row, 3);
  EXPECT_EQ(ConfigWith("hunyuan-moe", {{"moe_topk", nullptr}}).experts.per_row, 1);
  EXPECT_THAT(ErrorWith("hunyuan-moe", {{"moe_topk", {2, 3}}}),
              HasSubstr("moe_topk differs between layers"));
  EXPECT_THAT(ErrorWith("hunyuan-moe", {{"moe_topk", Json::array()}}),
              HasSubstr("moe_topk must hold integers from 1"));
  EXPECT_THAT(ErrorWith("hunyuan-moe", {{"num_experts", "five"}}), HasSubstr("num_experts is"));
}

TEST(ExpertFamilies, Glm4MoeLiteReadsDefaults) {
  const ModelConfig config = ConfigWith("glm4-moe-lite", {{"kv_lora_rank", nullptr},
                                                          {"q_lora_rank", nullptr},
                                                          {"qk_nope_head_dim", nullptr},
                                                          {"qk_rope_head_dim", nullptr},
                                                          {"v_head_dim", nullptr},
                                                          {"n_routed_experts", nullptr},
                                                          {"num_local_experts", nullptr},
                                                          {"num_experts_per_tok", nullptr},
                                                          {"moe_intermediate_size", nullptr},
                                                          {"n_shared_experts", nullptr},
                                                          {"routed_scaling_factor", nullptr},
                                                          {"mlp_layer_types", nullptr}});
  EXPECT_EQ(config.latent.rank, 512);
  EXPECT_EQ(config.latent.query_rank, 768);
  EXPECT_EQ(config.latent.plain, 192);
  EXPECT_EQ(config.latent.value, 256);
  EXPECT_EQ(config.latent.norm_epsilon, 1e-6);
  EXPECT_EQ(config.norm_epsilon, 1e-5);
  EXPECT_EQ(config.rope_dimensions, 64);
  EXPECT_EQ(config.experts.count, 64);
  EXPECT_EQ(config.experts.per_row, 4);
  EXPECT_EQ(config.experts.width, 1536);
  EXPECT_EQ(config.experts.shared_width, 1536);
  EXPECT_EQ(config.experts.scale, 1.8);
  EXPECT_EQ(config.experts.layers, (SparseLayers{false, true, true}));
}

TEST(ExpertFamilies, Glm4MoeLiteReadsItsLayersAndRefusesOthers) {
  EXPECT_EQ(ConfigWith("glm4-moe-lite", {}).experts.layers, (SparseLayers{true, false, true}));
  EXPECT_THAT(ErrorWith("glm4-moe-lite", {{"mlp_layer_types", {"dense"}}}),
              HasSubstr("mlp_layer_types names 1 layers; the model has 3"));
  EXPECT_THAT(ErrorWith("glm4-moe-lite", {{"mlp_layer_types", {"dense", "wide", "sparse"}}}),
              HasSubstr("mlp_layer_types holds 'wide'"));
  EXPECT_THAT(
      ErrorWith("glm4-moe-lite", {{"rope_parameters", nullptr}, {"partial_rotary_factor", 0.5}}),
      HasSubstr("partial_rotary_factor is not 1"));
}

TEST(ExpertFamilies, GraniteReadsDefaultsAndItsSharedExperts) {
  const ModelConfig config = ConfigWith("granitemoe", {{"num_local_experts", nullptr},
                                                       {"num_experts_per_tok", nullptr},
                                                       {"intermediate_size", nullptr},
                                                       {"logits_scaling", nullptr},
                                                       {"attention_multiplier", nullptr}});
  EXPECT_EQ(config.experts.count, 8);
  EXPECT_EQ(config.experts.per_row, 2);
  EXPECT_EQ(config.experts.width, 11008);
  EXPECT_EQ(config.experts.shared_width, 0);
  EXPECT_TRUE(config.experts.normalised);
  EXPECT_EQ(config.output_scale, 1.0);
  EXPECT_EQ(config.logit_scale, 1.0);
  EXPECT_EQ(config.embedding_scale, 0.6);
  EXPECT_EQ(ConfigWith("granitemoeshared", {}).experts.shared_width, 20);
  EXPECT_EQ(
      ConfigWith("granitemoeshared", {{"shared_intermediate_size", nullptr}}).experts.shared_width,
      0);
}

TEST(ExpertFamilies, TrinityReadsItsLayers) {
  const ModelConfig config = ConfigWith("afmoe", {});
  const std::vector<bool> windows = {false, true, true, false};
  for (size_t layer = 0; layer < windows.size(); ++layer) {
    EXPECT_EQ(config.attention[layer].rotary, windows[layer]) << layer;
    EXPECT_EQ(config.attention[layer].window, windows[layer] ? 11 : 0) << layer;
  }
  EXPECT_EQ(config.experts.layers, (SparseLayers{false, false, true, true}));
  EXPECT_NEAR(config.embedding_scale, std::sqrt(18.0), 1e-12);
  const ModelConfig plain = ConfigWith("afmoe", {{"layer_types", nullptr},
                                                 {"sliding_window", nullptr},
                                                 {"num_dense_layers", nullptr},
                                                 {"num_shared_experts", nullptr},
                                                 {"moe_intermediate_size", nullptr},
                                                 {"num_experts", nullptr},
                                                 {"num_local_experts", nullptr},
                                                 {"num_experts_per_tok", nullptr},
                                                 {"mup_enabled", nullptr},
                                                 {"route_scale", nullptr}});
  EXPECT_EQ(plain.attention[2].window, 1024);
  EXPECT_FALSE(plain.attention[3].rotary);
  EXPECT_EQ(plain.experts.layers, (SparseLayers{false, true, true, true}));
  EXPECT_EQ(plain.experts.count, 64);
  EXPECT_EQ(plain.experts.per_row, 6);
  EXPECT_EQ(plain.experts.shared_width, 2 * 1408);
  EXPECT_EQ(plain.experts.scale, 1.0);
  EXPECT_EQ(plain.embedding_scale, 1.0);
  EXPECT_FALSE(ConfigWith("afmoe", {{"sliding_window", "null"}}).attention[3].rotary);
  EXPECT_FALSE(ConfigWith("afmoe", {{"layer_types", nullptr}, {"global_attn_every_n_layers", 2}})
                   .attention[1]
                   .rotary);
}

TEST(ExpertFamilies, KExaoneReadsItsLayers) {
  const ModelConfig config = ConfigWith("exaone-moe", {});
  EXPECT_EQ(config.experts.layers, (SparseLayers{true, false, true}));
  EXPECT_EQ(config.attention[0].window, 11);
  EXPECT_FALSE(config.attention[1].rotary);
  EXPECT_TRUE(config.input_norms);
  const ModelConfig plain = ConfigWith("exaone-moe", {{"layer_types", nullptr},
                                                      {"mlp_layer_types", nullptr},
                                                      {"first_k_dense_replace", nullptr},
                                                      {"sliding_window", nullptr},
                                                      {"num_experts", nullptr},
                                                      {"num_experts_per_tok", nullptr},
                                                      {"moe_intermediate_size", nullptr},
                                                      {"num_shared_experts", nullptr},
                                                      {"n_group", nullptr},
                                                      {"topk_group", nullptr},
                                                      {"norm_topk_prob", nullptr},
                                                      {"routed_scaling_factor", nullptr}});
  EXPECT_EQ(plain.attention[2].window, 4096);
  EXPECT_EQ(plain.experts.layers, (SparseLayers{false, true, true}));
  EXPECT_EQ(plain.experts.count, 64);
  EXPECT_EQ(plain.experts.per_row, 8);
  EXPECT_EQ(plain.experts.shared_width, 1024);
  EXPECT_EQ(plain.experts.groups, 1);
  EXPECT_EQ(plain.experts.scale, 2.5);
  EXPECT_TRUE(plain.experts.normalised);
  EXPECT_THAT(ErrorWith("exaone-moe", {{"mlp_layer_types", {"sparse", "dense"}}}),
              HasSubstr("names 2 layers; the model has 3"));
  EXPECT_THAT(ErrorWith("exaone-moe", {{"mlp_layer_types", {"sparse", "dense", "moe"}}}),
              HasSubstr("mlp_layer_types holds 'moe'"));
}

TEST(ExpertFamilies, PhiMoeReadsItsRouterAndItsRope) {
  const ModelConfig config = ConfigWith("phimoe", {});
  EXPECT_EQ(config.rope_scaling.attention_factor, 1.2);
  EXPECT_EQ(config.experts.jitter, 0.25);
  const ModelConfig plain = ConfigWith("phimoe", {{"rope_parameters", nullptr},
                                                  {"num_local_experts", nullptr},
                                                  {"num_experts_per_tok", nullptr},
                                                  {"router_jitter_noise", nullptr}});
  EXPECT_EQ(plain.rope_base, 1e6);
  EXPECT_EQ(plain.experts.count, 16);
  EXPECT_EQ(plain.experts.per_row, 2);
  EXPECT_EQ(plain.experts.jitter, 0.01);
  EXPECT_THAT(ErrorWith("phimoe", {{"num_experts_per_tok", 3}}), HasSubstr("is not 2"));
  Json rope = {{"rope_type", "longrope"},
               {"short_mscale", 1.2},
               {"long_mscale", 1.3},
               {"short_factor", {1.0, 1.1, 1.25}},
               {"long_factor", {1.0, 1.5, 4.0}},
               {"original_max_position_embeddings", 128}};
  EXPECT_THAT(ErrorWith("phimoe", {{"rope_parameters", rope}}), HasSubstr("mscale differ"));
  rope = {{"rope_type", "linear"}, {"factor", 2.0}};
  EXPECT_THAT(ErrorWith("phimoe", {{"rope_parameters", rope}}), HasSubstr("default, longrope"));
}

TEST(ExpertFamilies, SolarOpenReadsDefaults) {
  const ModelConfig config = ConfigWith("solar-open", {{"rope_parameters", nullptr},
                                                       {"rope_scaling", nullptr},
                                                       {"head_dim", nullptr},
                                                       {"n_routed_experts", nullptr},
                                                       {"num_local_experts", nullptr},
                                                       {"num_experts_per_tok", nullptr},
                                                       {"moe_intermediate_size", nullptr},
                                                       {"n_shared_experts", nullptr},
                                                       {"routed_scaling_factor", nullptr},
                                                       {"norm_topk_prob", nullptr}});
  EXPECT_EQ(config.rope_base, 1e6);
  EXPECT_EQ(config.rope_dimensions, 128);
  EXPECT_EQ(config.experts.count, 128);
  EXPECT_EQ(config.experts.per_row, 8);
  EXPECT_EQ(config.experts.width, 1280);
  EXPECT_EQ(config.experts.shared_width, 1280);
  EXPECT_EQ(config.experts.scale, 1.0);
  EXPECT_TRUE(config.experts.normalised);
  EXPECT_EQ(config.experts.layers, SparseLayers(static_cast<size_t>(config.layers), true));
  EXPECT_THAT(ErrorWith("solar-open", {{"use_qk_norm", true}}), HasSubstr("use_qk_norm is true"));
}

TEST(ExpertFamilies, MellumReadsItsLayers) {
  const ModelConfig config = ConfigWith("mellum", {});
  EXPECT_EQ(config.rope_local_base, 300.0);
  EXPECT_EQ(config.rope_scaling.kind, RopeScalingKind::kYarn);
  EXPECT_TRUE(config.attention[0].local);
  EXPECT_FALSE(config.attention[1].local);
  const ModelConfig plain = ConfigWith("mellum", {{"layer_types", nullptr},
                                                  {"mlp_layer_types", nullptr},
                                                  {"rope_parameters", nullptr},
                                                  {"num_experts", nullptr},
                                                  {"num_local_experts", nullptr},
                                                  {"num_experts_per_tok", nullptr},
                                                  {"moe_intermediate_size", nullptr},
                                                  {"norm_topk_prob", nullptr}});
  EXPECT_EQ(plain.attention[0].window, 0);
  EXPECT_EQ(plain.rope_base, 500000.0);
  EXPECT_EQ(plain.experts.layers, SparseLayers(3, true));
  EXPECT_EQ(plain.experts.count, 64);
  EXPECT_EQ(plain.experts.per_row, 8);
  EXPECT_EQ(plain.experts.width, 896);
  EXPECT_TRUE(plain.experts.normalised);
}

TEST(ExpertFamilies, FlexOlmoReadsDefaults) {
  const ModelConfig config = ConfigWith("flex-olmo", {{"num_experts", nullptr},
                                                      {"num_experts_per_tok", nullptr},
                                                      {"rope_parameters", nullptr},
                                                      {"norm_topk_prob", nullptr}});
  EXPECT_EQ(config.experts.count, 7);
  EXPECT_EQ(config.experts.per_row, 5);
  EXPECT_EQ(config.rope_base, 500000.0);
  EXPECT_FALSE(config.experts.normalised);
  EXPECT_TRUE(ConfigWith("flex-olmo", {{"norm_topk_prob", true}}).experts.normalised);
  EXPECT_FALSE(config.input_norms);
}

test::GgufWriter ExpertMetadata(const std::string& architecture) {
  test::GgufWriter writer;
  writer.String("general.architecture", architecture);
  const auto count = [&](const char* key, uint32_t value) {
    writer.Uint32(architecture + "." + key, value);
  };
  count("block_count", 3);
  count("context_length", 64);
  count("embedding_length", 16);
  count("feed_forward_length", 24);
  count("attention.head_count", 4);
  count("vocab_size", 259);
  count("expert_count", 4);
  count("expert_used_count", 2);
  count("expert_feed_forward_length", 8);
  writer.Float32(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
  return writer;
}

ModelConfig GgufConfig(const test::GgufWriter& writer) {
  const test::TemporaryFile file(writer.Bytes());
  return ReadGgufConfig(GgufFile(file.path()));
}

std::string GgufError(const test::GgufWriter& writer) {
  return test::ErrorMessage([&] { GgufConfig(writer); });
}

TEST(ExpertFamilies, ReadTheirMetadata) {
  test::GgufWriter ernie = ExpertMetadata("ernie4_5-moe");
  EXPECT_EQ(GgufConfig(ernie).experts.shared_width, 0);
  EXPECT_EQ(GgufConfig(ernie).experts.layers, SparseLayers(3, true));
  ernie.Uint32("ernie4_5-moe.expert_shared_count", 2);
  ernie.Uint32("ernie4_5-moe.expert_shared_feed_forward_length", 16);
  ernie.Uint32("ernie4_5-moe.leading_dense_block_count", 1);
  ernie.Uint32("ernie4_5-moe.interleave_moe_layer_step", 3);
  EXPECT_EQ(GgufConfig(ernie).experts.shared_width, 16);
  EXPECT_EQ(GgufConfig(ernie).experts.layers, (SparseLayers{false, false, true}));

  test::GgufWriter hunyuan = ExpertMetadata("hunyuan-moe");
  EXPECT_EQ(GgufConfig(hunyuan).experts.shared_width, 24);
  EXPECT_TRUE(GgufConfig(hunyuan).norm_after_rotation);

  for (const std::string architecture : {"dots1", "minimax-m2", "afmoe", "exaone-moe"}) {
    test::GgufWriter writer = ExpertMetadata(architecture);
    EXPECT_EQ(GgufConfig(writer).experts.score, ExpertScore::kSigmoid);
    EXPECT_TRUE(GgufConfig(writer).experts.choice_bias);
    writer.Uint32(architecture + ".expert_gating_func", 1);
    EXPECT_THAT(GgufError(writer), HasSubstr("expert_gating_func is not the sigmoid"));
  }
  test::GgufWriter trinity = ExpertMetadata("afmoe");
  trinity.Uint32("afmoe.attention.sliding_window", 9).Uint32("afmoe.expert_shared_count", 2);
  EXPECT_EQ(GgufConfig(trinity).experts.shared_width, 16);
  EXPECT_EQ(GgufConfig(trinity).attention[2].window, 9);
  EXPECT_EQ(GgufConfig(trinity).embedding_scale, 4.0);

  test::GgufWriter granite = ExpertMetadata("granitemoe");
  EXPECT_THAT(GgufError(granite), HasSubstr("granitemoe.logit_scale is missing"));
  granite.Float32("granitemoe.logit_scale", 8.0f);
  EXPECT_EQ(GgufConfig(granite).experts.shared_width, 0);
  granite.Uint32("granitemoe.expert_shared_feed_forward_length", 12);
  EXPECT_EQ(GgufConfig(granite).experts.shared_width, 12);

  test::GgufWriter scaled = ExpertMetadata("minimax-m2");
  scaled.Float32("minimax-m2.expert_weights_scale", 2.0f);
  EXPECT_THAT(GgufError(scaled), HasSubstr("expert_weights_scale"));
}

}  // namespace
}  // namespace midscope
