// SPDX-License-Identifier: MIT
// InternLM3, Ministral 3, Apertus, text parts of models with pictures: values read from keys of
// config.json, their defaults, and rejected values. The numbers of complete models are tested in
// families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/model/gguf_model.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/gguf_writer.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::ErrorWith;
using test::OpenErrorWith;
using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(DenseFamilies, InternLm3HasOneSettingForAllBiases) {
  const Json none = {{"attention_bias", nullptr}, {"mlp_bias", nullptr}};
  EXPECT_THAT(OpenErrorWith("internlm3", none), HasSubstr("bias' has no place"));
  const Json by_other_names = {
      {"attention_bias", nullptr}, {"mlp_bias", nullptr}, {"qkv_bias", true}, {"bias", true}};
  EXPECT_EQ(OpenErrorWith("internlm3", by_other_names), "");
  EXPECT_THAT(OpenErrorWith("internlm3", {{"mlp_bias", false}}),
              HasSubstr("qkv_bias and bias differ"));
}

TEST(DenseFamilies, InternLm3ReadsDefaultsAndNulls) {
  const ModelConfig plain = ConfigWith(
      "internlm3",
      {{"head_dim", nullptr}, {"num_key_value_heads", nullptr}, {"rms_norm_eps", nullptr}});
  EXPECT_EQ(plain.head_dim, 128);
  EXPECT_EQ(plain.rope_dimensions, 128);
  EXPECT_EQ(plain.key_value_heads, 2);
  EXPECT_EQ(plain.norm_epsilon, 1e-5);
  const ModelConfig null = ConfigWith(
      "internlm3", {{"head_dim", "null"}, {"num_key_value_heads", "null"}, {"hidden_size", 24}});
  EXPECT_EQ(null.head_dim, 4);
  EXPECT_EQ(null.rope_dimensions, 4);
  EXPECT_EQ(null.key_value_heads, 6);
}

// Devstral 2 has both as 0, which means none.
TEST(DenseFamilies, Ministral3ReadsSettingsOfZero) {
  Json rope = {{"rope_type", "yarn"},
               {"rope_theta", 300.0},
               {"factor", 4.0},
               {"original_max_position_embeddings", 16},
               {"mscale", 1.0},
               {"mscale_all_dim", 0.0},
               {"llama_4_scaling_beta", 0},
               {"beta_fast", 4.0}};
  const ModelConfig config = ConfigWith("ministral3", {{"rope_parameters", rope}});
  EXPECT_EQ(config.query_growth, 0.0);
  EXPECT_NEAR(config.rope_scaling.attention_factor, 0.1 * std::log(4.0) + 1.0, 1e-12);
  rope["llama_4_scaling_beta"] = -1;
  EXPECT_THAT(ErrorWith("ministral3", {{"rope_parameters", rope}}),
              HasSubstr("must be a positive number"));
}

TEST(DenseFamilies, ApertusReadsItsActivation) {
  const ModelConfig config = ConfigWith("apertus", {{"hidden_act", nullptr}});
  EXPECT_EQ(config.activation, Activation::kXielu);
  EXPECT_TRUE(config.xielu.empty());  // in tensors
  EXPECT_FALSE(config.gated_mlp);
  EXPECT_EQ(ConfigWith("apertus", {{"hidden_act", "relu2"}}).activation, Activation::kSquaredRelu);
  EXPECT_THAT(OpenErrorWith("apertus", {{"hidden_act", "relu2"}}),
              HasSubstr("mlp.act_fn.alpha_n' has no place"));
  EXPECT_THAT(ErrorWith("llama", {{"hidden_act", "xielu"}}),
              HasSubstr("its activation 'xielu' is not supported yet"));
  EXPECT_THAT(ErrorWith("apertus", {{"rope_parameters", nullptr}}),
              HasSubstr("has no rope_parameters"));
}

// A fixed alpha stretches the base; without it the stated scaling applies.
TEST(DenseFamilies, HunyuanStretchesItsBase) {
  Json rope = {{"rope_type", "dynamic"}, {"rope_theta", 100.0}, {"factor", 2.0}, {"alpha", 16.0}};
  const ModelConfig config = ConfigWith("hunyuan", {{"rope_parameters", rope}});
  EXPECT_NEAR(config.rope_base, 100.0 * std::pow(16.0, 10.0 / 8.0), 1e-9);
  EXPECT_EQ(config.rope_scaling.kind, RopeScalingKind::kNone);
  EXPECT_TRUE(config.norm_after_rotation);
  rope["alpha"] = 0;
  EXPECT_THAT(ErrorWith("hunyuan", {{"rope_parameters", rope}}), HasSubstr("alpha"));
  rope.erase("alpha");
  EXPECT_EQ(ConfigWith("hunyuan", {{"rope_parameters", rope}}).rope_scaling.kind,
            RopeScalingKind::kDynamic);
  EXPECT_THAT(ErrorWith("hunyuan", {{"head_dim", 2}}), HasSubstr("cannot be stretched"));
}

TEST(DenseFamilies, Qwen3VlReadsItsText) {
  const ModelConfig plain = ConfigWith("qwen3-vl", {{"text_config", Json::object()}});
  EXPECT_EQ(plain.layers, 32);
  EXPECT_EQ(plain.hidden, 4096);
  EXPECT_EQ(plain.feed_forward, 22016);
  EXPECT_EQ(plain.vocabulary, 151936);
  EXPECT_EQ(plain.key_value_heads, 32);
  EXPECT_EQ(plain.head_dim, 128);
  EXPECT_EQ(plain.trained_context, 128000);
  EXPECT_EQ(plain.rope_base, 500000.0);
  EXPECT_EQ(plain.norm_epsilon, 1e-6);
  EXPECT_FALSE(plain.tied_embeddings);
  EXPECT_EQ(plain.query_key_norm, QueryKeyNorm::kHead);
  // As published: the text's own keys of ties have no effect, those of the whole model have.
  const Json rope = {
      {"mrope_interleaved", true}, {"mrope_section", {24, 20, 20}}, {"rope_type", "default"}};
  const Json text = {{"num_attention_heads", 16},
                     {"num_key_value_heads", nullptr},
                     {"rope_scaling", rope},
                     {"rope_theta", 5e6},
                     {"tie_word_embeddings", true}};
  const ModelConfig config = ConfigWith("qwen3-vl", {{"text_config", text}});
  EXPECT_EQ(config.key_value_heads, 16);
  EXPECT_EQ(config.rope_base, 5e6);
  EXPECT_EQ(config.rope_scaling.kind, RopeScalingKind::kNone);
  EXPECT_FALSE(config.tied_embeddings);
  EXPECT_TRUE(ConfigWith("qwen3-vl", {{"tie_word_embeddings", true}}).tied_embeddings);
  EXPECT_THAT(ErrorWith("qwen3-vl", {{"text_config", {{"model_type", "qwen3"}}}}),
              HasSubstr("Supported there: qwen3_vl_text"));
}

TEST(DenseFamilies, CodeWorldModelReadsItsLayers) {
  const ModelConfig config =
      ConfigWith("cwm", {{"layer_types", nullptr}, {"sliding_window", nullptr}});
  EXPECT_EQ(config.attention[0].window, 0);
  EXPECT_EQ(config.attention[1].window, 8192);
  EXPECT_TRUE(config.attention[0].rotary);
  EXPECT_EQ(config.rope_scaling.kind, RopeScalingKind::kLlama3);
  EXPECT_THAT(ErrorWith("cwm", {{"rope_parameters", nullptr}}), HasSubstr("no rope_parameters"));
}

TEST(DenseFamilies, HyperClovaXReadsItsFactors) {
  const ModelConfig config = ConfigWith("hyperclovax", {});
  EXPECT_EQ(config.output_scale, 0.4);
  EXPECT_EQ(config.logit_scale, 0.3);
  EXPECT_EQ(config.update_scale, 0.6);
  EXPECT_TRUE(config.output_norms);
  const ModelConfig plain = ConfigWith("hyperclovax", {{"attention_multiplier", nullptr},
                                                       {"embedding_multiplier", nullptr},
                                                       {"logits_scaling", nullptr},
                                                       {"residual_multiplier", nullptr},
                                                       {"use_post_norm", false}});
  EXPECT_EQ(plain.logit_scale, 0.0);
  EXPECT_EQ(plain.embedding_scale, 1.0);
  EXPECT_EQ(plain.output_scale, 1.0);
  EXPECT_FALSE(plain.output_norms);
}

TEST(DenseFamilies, Exaone45ReadsItsText) {
  const Json text = {{"model_type", "exaone4_5_text"},  // as first released
                     {"num_hidden_layers", 4},
                     {"hidden_size", 24},
                     {"intermediate_size", 8},
                     {"num_attention_heads", 4},
                     {"vocab_size", 264},
                     {"max_position_embeddings", 128},
                     {"sliding_window", 8}};
  const ModelConfig config = ConfigWith("exaone4-5", {{"text_config", text}});
  EXPECT_EQ(config.attention[2].window, 8);
  EXPECT_FALSE(config.attention[3].rotary);
}

TEST(DenseFamilies, VaultGemmaAndJais2ReadDefaults) {
  const ModelConfig vault = ConfigWith("vaultgemma", {{"layer_types", nullptr},
                                                      {"sliding_window", nullptr},
                                                      {"attn_logit_softcapping", nullptr},
                                                      {"final_logit_softcapping", "null"},
                                                      {"num_attention_heads", nullptr},
                                                      {"num_key_value_heads", nullptr}});
  EXPECT_FALSE(vault.output_norms);
  EXPECT_TRUE(vault.norm_adds_one);
  EXPECT_EQ(vault.attention[0].window, 4096);
  EXPECT_EQ(vault.attention[1].window, 0);
  EXPECT_EQ(vault.attention_softcap, 50.0);
  EXPECT_EQ(vault.final_softcap, 0.0);
  EXPECT_EQ(vault.heads, 8);
  EXPECT_EQ(vault.key_value_heads, 4);
  const Json no_biases = {{"attention_bias", false}, {"mlp_bias", false}};
  EXPECT_THAT(OpenErrorWith("jais2", no_biases), HasSubstr("bias' has no place"));
  EXPECT_EQ(OpenErrorWith("jais2", {{"attention_bias", nullptr}, {"mlp_bias", nullptr}}), "");
  EXPECT_EQ(ConfigWith("jais2", {{"hidden_act", nullptr}}).activation, Activation::kSquaredRelu);
  EXPECT_FALSE(ConfigWith("jais2", {}).gated_mlp);
}

TEST(DenseFamilies, ExaoneReadsKeysUnderBothNames) {
  const Json none = {{"num_layers", nullptr},
                     {"layer_norm_epsilon", nullptr},
                     {"activation_function", nullptr},
                     {"num_key_value_heads", nullptr},
                     {"num_attention_heads", nullptr},
                     {"hidden_size", nullptr},
                     {"head_dim", nullptr},
                     {"rope_theta", nullptr}};
  const ModelConfig plain = ConfigWith("exaone", none);
  EXPECT_EQ(plain.layers, 32);
  EXPECT_EQ(plain.hidden, 4096);
  EXPECT_EQ(plain.key_value_heads, 8);
  EXPECT_EQ(plain.norm_epsilon, 1e-5);
  EXPECT_EQ(plain.rope_base, 500000.0);
  EXPECT_EQ(plain.rope_scaling.kind, RopeScalingKind::kLlama3);
  Json llamas = {{"num_layers", nullptr},          {"num_hidden_layers", 3},
                 {"layer_norm_epsilon", nullptr},  {"rms_norm_eps", 1e-4},
                 {"activation_function", nullptr}, {"hidden_act", "gelu"}};
  EXPECT_EQ(ConfigWith("exaone", llamas).layers, 3);
  EXPECT_EQ(ConfigWith("exaone", llamas).norm_epsilon, 1e-4);
  EXPECT_EQ(ConfigWith("exaone", llamas).activation, Activation::kGelu);
  llamas["num_layers"] = 2;
  EXPECT_THAT(ErrorWith("exaone", llamas), HasSubstr("differ"));
}

TEST(DenseFamilies, Glm4vReadsItsText) {
  EXPECT_EQ(ConfigWith("glm4v", {}).rope_dimensions, 6);
  const Json rope = {{"type", "default"}, {"mrope_section", {8, 12, 12}}};
  const Json text = {{"rope_scaling", rope}, {"partial_rotary_factor", 0.5}};
  for (const char* type : {"glm4v", "glm46v"}) {
    const ModelConfig config = ConfigWith("glm4v", {{"model_type", type}, {"text_config", text}});
    EXPECT_EQ(config.layers, 40);
    EXPECT_EQ(config.key_value_heads, 2);
    EXPECT_EQ(config.head_dim, 128);
    EXPECT_EQ(config.rope_dimensions, 64);
    EXPECT_EQ(config.norm_epsilon, 1e-5);
    EXPECT_TRUE(config.output_norms);
    EXPECT_FALSE(config.tied_embeddings);
  }
}

// Files of models with pictures hold only those keys of the text that differ from the defaults.
TEST(DenseFamilies, TextsHaveTheDefaultsOfTheirFamilies) {
  const auto text = [](const char* type, const char* text_type) {
    return ConfigWith("llava", {{"model_type", type},
                                {"text_config", {{"model_type", text_type}, {"vocab_size", 264}}}});
  };
  const ModelConfig llama = text("llava", "llama");
  EXPECT_EQ(llama.layers, 32);
  EXPECT_EQ(llama.hidden, 4096);
  EXPECT_EQ(llama.feed_forward, 11008);
  EXPECT_EQ(llama.key_value_heads, 32);
  EXPECT_EQ(llama.trained_context, 2048);
  const ModelConfig mistral = text("llava_next", "mistral");
  EXPECT_EQ(mistral.feed_forward, 14336);
  EXPECT_EQ(mistral.key_value_heads, 8);
  EXPECT_EQ(mistral.trained_context, 131072);
  EXPECT_EQ(mistral.attention[0].window, 4096);
  const ModelConfig qwen2 = text("llava_onevision", "qwen2");
  EXPECT_EQ(qwen2.feed_forward, 22016);
  EXPECT_EQ(qwen2.trained_context, 32768);
  const ModelConfig qwen3 = text("internvl", "qwen3");
  EXPECT_EQ(qwen3.head_dim, 128);
  EXPECT_EQ(qwen3.query_key_norm, QueryKeyNorm::kHead);
  const ModelConfig cohere2 = text("aya_vision", "cohere2");
  EXPECT_EQ(cohere2.layers, 40);
  EXPECT_EQ(cohere2.heads, 64);
  EXPECT_EQ(text("idefics3", "llama").hidden, 4096);
  EXPECT_THAT(test::ErrorMessage([&] { text("smolvlm", "qwen2"); }),
              HasSubstr("Supported there: llama"));
}

// As the classes of transformers 5.24 tie them.
TEST(DenseFamilies, TextsAreTiedWhereTransformersTiesThem) {
  const auto tied = [](const char* type, const char* text_type, const Json& whole,
                       const Json& text) {
    Json texts = {{"model_type", text_type}, {"vocab_size", 264}, {"tie_word_embeddings", text}};
    if (text.is_null()) texts.erase("tie_word_embeddings");
    return ConfigWith(
               "llava",
               {{"model_type", type}, {"tie_word_embeddings", whole}, {"text_config", texts}})
        .tied_embeddings;
  };
  for (const char* type : {"llava", "llava_next", "smolvlm", "idefics3"}) {
    EXPECT_FALSE(tied(type, "llama", nullptr, nullptr)) << type;
    EXPECT_TRUE(tied(type, "llama", true, nullptr)) << type;
  }
  EXPECT_TRUE(tied("llava", "llama", false, true));
  EXPECT_TRUE(tied("llava_onevision", "qwen2", false, true));
  EXPECT_FALSE(tied("llava_next", "mistral", false, true));
  EXPECT_FALSE(tied("smolvlm", "llama", false, true));
  EXPECT_FALSE(tied("internvl", "qwen3", false, true));
  EXPECT_TRUE(tied("glm4v", "glm4v_text", false, true));
  EXPECT_FALSE(tied("glm46v", "glm4v_text", false, true));
  EXPECT_TRUE(tied("internvl", "qwen2", nullptr, false));
  EXPECT_TRUE(tied("aya_vision", "cohere2", nullptr, nullptr));
}

TEST(DenseFamilies, InternLmReadsItsOwnKeys) {
  const ModelConfig plain =
      ConfigWith("internlm", {{"rotary", nullptr}, {"rms_norm_eps", nullptr}});
  EXPECT_EQ(plain.rope_base, 10000);
  EXPECT_EQ(plain.norm_epsilon, 1e-6);
  EXPECT_EQ(plain.rope_scaling.kind, RopeScalingKind::kDynamic);
  EXPECT_EQ(plain.rope_scaling.factor, 1);
  EXPECT_EQ(plain.rope_scaling.original_context, 32);
  const Json origin = {{"rotary", {{"base", 500.0}, {"type", "origin"}}}};
  EXPECT_EQ(ConfigWith("internlm", origin).rope_scaling.kind, RopeScalingKind::kNone);
  EXPECT_EQ(ConfigWith("internlm", origin).rope_base, 500);
  EXPECT_THAT(ErrorWith("internlm", {{"rotary", {{"type", "linear"}}}}),
              HasSubstr("rotary.type must be origin or dynamic"));
  EXPECT_EQ(OpenErrorWith("internlm", {{"bias", nullptr}}), "");
  EXPECT_THAT(OpenErrorWith("internlm", {{"bias", false}}), HasSubstr("bias' has no place"));
}

TEST(DenseFamilies, InternLm2ReadsItsBiases) {
  EXPECT_THAT(OpenErrorWith("internlm2", {{"bias", true}}),
              HasSubstr("has no tensor 'model.layers.0.attention.wqkv.bias'"));
  EXPECT_EQ(ConfigWith("internlm2", {{"rms_norm_eps", nullptr}}).norm_epsilon, 1e-6);
}

test::GgufWriter ApertusMetadata() {
  test::GgufWriter writer;
  writer.String("general.architecture", "apertus").Uint32("apertus.block_count", 2);
  writer.Uint32("apertus.context_length", 64).Uint32("apertus.embedding_length", 16);
  writer.Uint32("apertus.feed_forward_length", 24).Uint32("apertus.attention.head_count", 4);
  writer.Float32("apertus.attention.layer_norm_rms_epsilon", 1e-5f);
  writer.Uint32("apertus.vocab_size", 259);
  return writer;
}

test::GgufWriter& Numbers(test::GgufWriter& writer, const std::string& key,
                          const std::vector<float>& numbers) {
  std::string bytes;
  for (const float number : numbers) bytes += test::Raw(number);
  return writer.Remove(key).RawArray(key, GgufType::kFloat32, numbers.size(), bytes);
}

TEST(DenseFamilies, ApertusReadsItsActivationFromMetadata) {
  test::GgufWriter writer = ApertusMetadata();
  const auto config = [&] {
    const test::TemporaryFile file(writer.Bytes());
    return ReadGgufConfig(GgufFile(file.path()));
  };
  const auto error = [&] { return test::ErrorMessage([&] { config(); }); };
  EXPECT_THAT(error(), HasSubstr("xielu.alpha_p is missing"));
  Numbers(writer, "xielu.alpha_p", {0.5f, -0.25f});
  Numbers(writer, "xielu.alpha_n", {1.5f, 2.0f});
  Numbers(writer, "xielu.beta", {0.5f, 0.5f});
  Numbers(writer, "xielu.eps", {-1e-6f, -1e-6f});
  ASSERT_EQ(config().xielu.size(), 2u);
  EXPECT_EQ(config().xielu[1].alpha_positive, -0.25);
  EXPECT_EQ(config().xielu[0].alpha_negative, 1.5);
  Numbers(writer, "xielu.beta", {0.5f});
  EXPECT_THAT(error(), HasSubstr("xielu.beta holds 1 numbers; the model has 2 layers"));
  Numbers(writer, "xielu.beta", {0.5f, std::numeric_limits<float>::infinity()});
  EXPECT_THAT(error(), HasSubstr("xielu.beta holds inf"));
}

}  // namespace
}  // namespace midscope
