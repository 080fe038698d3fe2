// SPDX-License-Identifier: MIT
// Values read from keys of config.json, and rejected values, for each family's file. The numbers of
// complete models are tested in families_test.cpp.
#include "core/model/folder_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/core/support/changed_config.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::ErrorMessage;
using test::ErrorWith;
using test::OpenErrorWith;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

std::filesystem::path Tiny(const std::string& name) {
  return std::filesystem::path(MIDSCOPE_TESTS "/core/golden/tiny_models") / name;
}

std::vector<int64_t> Windows(const ModelConfig& config) {
  std::vector<int64_t> windows;
  for (const LayerAttention& layer : config.attention) windows.push_back(layer.window);
  return windows;
}

using Counts = std::vector<int64_t>;

TEST(FolderModel, EveryTinyModelOpens) {
  int models = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(MIDSCOPE_TESTS "/core/golden/tiny_models")) {
    if (!std::filesystem::exists(entry.path() / "config.json")) continue;
    ++models;
    const std::unique_ptr<ModelSource> model = OpenModel(entry.path().string());
    const ModelConfig& config = model->config();
    EXPECT_EQ(config.vocabulary, 264) << entry.path();
    EXPECT_GT(config.parameters, 10000) << entry.path();
    const TensorRef* query = model->Find("1.query");
    ASSERT_NE(query, nullptr) << entry.path();
    const LatentAttention& latent = config.latent;
    const int64_t dim = latent.used() ? latent.plain + config.rope_dimensions : config.HeadDim(1);
    EXPECT_EQ(query->rows, config.heads * dim) << entry.path();
    EXPECT_EQ(query->columns, latent.query_rank > 0 ? latent.query_rank : config.hidden)
        << entry.path();
    EXPECT_EQ(model->Find("output") == nullptr, config.tied_embeddings) << entry.path();
    const bool experts = config.experts.In(1);
    EXPECT_EQ(model->Find("1.gate") != nullptr,
              config.gated_mlp && (!experts || config.experts.beside_mlp))
        << entry.path();
    EXPECT_EQ(model->Find("1.experts.1.gate") != nullptr, experts) << entry.path();
    EXPECT_EQ(model->Find("7.query"), nullptr);
    EXPECT_EQ(model->Hash().size(), 32u);
  }
  EXPECT_GE(models, 18);
}

TEST(FolderModel, ReadsWhichLayersHaveExperts) {
  const auto layers = [](const ModelConfig& config) { return config.experts.layers; };
  using Layers = std::vector<bool>;
  EXPECT_EQ(layers(ReadFolderConfig(Tiny("llama"))), Layers{});
  EXPECT_EQ(layers(ReadFolderConfig(Tiny("mixtral"))), (Layers{true, true}));
  EXPECT_EQ(layers(ReadFolderConfig(Tiny("qwen2-moe"))), (Layers{true, false, true}));
  EXPECT_EQ(layers(ConfigWith("qwen2-moe", {{"mlp_only_layers", nullptr}})),
            (Layers{true, true, true}));
  EXPECT_EQ(layers(ReadFolderConfig(Tiny("qwen3-moe"))), (Layers{false, true}));
  EXPECT_EQ(layers(ReadFolderConfig(Tiny("glm4-moe"))), (Layers{false, true, true}));
  EXPECT_EQ(layers(ReadFolderConfig(Tiny("dots1"))), (Layers{false, true, true}));
  EXPECT_EQ(layers(ConfigWith("glm4-moe", {{"first_k_dense_replace", 0}})),
            (Layers{true, true, true}));
}

TEST(FolderModel, RefusesExpertsThatCannotBeChosen) {
  EXPECT_THAT(ErrorWith("mixtral", {{"num_experts_per_tok", 6}}),
              HasSubstr("6 of 5 experts cannot be chosen"));
  EXPECT_THAT(ErrorWith("mixtral", {{"num_local_experts", 0}}),
              HasSubstr("num_local_experts is 0"));
  EXPECT_THAT(ErrorWith("qwen2-moe", {{"mlp_only_layers", {-1}}}),
              HasSubstr("it must hold integers from 0"));
  EXPECT_THAT(ErrorWith("glm4-moe", {{"n_group", 3}}),
              HasSubstr("8 experts cannot be chosen by 2 of 3 groups"));
  EXPECT_THAT(ErrorWith("glm4-moe", {{"topk_group", 1}}),
              HasSubstr("3 of 2 experts cannot be chosen"));
  EXPECT_THAT(ErrorWith("glm4-moe", {{"n_group", 8}}),
              HasSubstr("8 experts cannot be chosen by 2 of 8 groups"));
  EXPECT_THAT(ErrorWith("olmoe", {{"clip_qkv", -2}}), HasSubstr("must be a positive number"));
}

TEST(FolderModel, SaysWhatLayersAModelHasThatIsNotSupported) {
  EXPECT_THAT(ErrorWith("llama", {{"model_type", "deepseek_v32"}}),
              HasSubstr("the model_type 'deepseek_v32' is not supported: it has attention over "
                        "latent keys and values (MLA)"));
  EXPECT_THAT(ErrorWith("llama", {{"model_type", "bert"}}), HasSubstr("it has encoder layers"));
  EXPECT_THAT(ErrorWith("llama", {{"model_type", "paligemma"}}),
              HasSubstr("it has layers for pictures around a text part"));
  EXPECT_THAT(ErrorWith("llama", {{"model_type", "nobody"}}),
              HasSubstr("the model_type 'nobody' is not supported yet"));
}

// As Python's json module writes them, in configurations of state space models.
TEST(FolderModel, TakesInfinityForNothing) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "config.json")
      << R"({"model_type": "jamba", "note": "a \"NaN, Infinity", "limit": [0.0, Infinity],)"
      << R"( "low": -Infinity, "none": NaN})";
  EXPECT_THAT(test::ErrorMessage([&] { OpenModel(folder.path().string()); }),
              HasSubstr("it has state space layers (Mamba) beside attention layers"));
}

TEST(FolderModel, SaysWhichTypeMostParametersHave) {
  EXPECT_EQ(OpenModel(Tiny("qwen2").string())->config().quantisation, "F32");
  EXPECT_EQ(OpenModel(Tiny("mistral").string())->config().quantisation, "BF16");
  EXPECT_EQ(OpenModel(Tiny("llama-tied-linear").string())->config().quantisation, "F16");
}

TEST(FolderModel, HasBiasesWhereTheConfigurationSaysSo) {
  const auto llama = OpenModel(Tiny("llama").string());
  EXPECT_NE(llama->Find("0.query.bias"), nullptr);
  EXPECT_NE(llama->Find("0.down.bias"), nullptr);
  const auto qwen2 = OpenModel(Tiny("qwen2").string());
  EXPECT_NE(qwen2->Find("0.key.bias"), nullptr);
  EXPECT_EQ(qwen2->Find("0.attention_out.bias"), nullptr);
  const auto neox = OpenModel(Tiny("gpt-neox").string());
  EXPECT_NE(neox->Find("final_norm.bias"), nullptr);
  EXPECT_EQ(neox->Find("0.query.bias")->columns, 36);
  EXPECT_EQ(OpenModel(Tiny("mpt").string())->Find("final_norm.bias"), nullptr);
}

// Rows of [head][query, key, value][head_dim]: 3 heads of 12.
TEST(FolderModel, SplitsInterleavedFusedRows) {
  const auto neox = OpenModel(Tiny("gpt-neox").string());
  const TensorRef* query = neox->Find("0.query");
  const TensorRef* value = neox->Find("0.value");
  EXPECT_EQ(query->Row(0), query->data);
  EXPECT_EQ(query->Row(12), query->data + 36 * query->row_bytes);
  EXPECT_EQ(value->Row(0), value->data + 24 * value->row_bytes);
  EXPECT_EQ(value->Row(35), value->data + 107 * value->row_bytes);
  EXPECT_EQ(query->data, value->data);
}

TEST(FolderModel, ReadsWindows) {
  EXPECT_EQ(Windows(ReadFolderConfig(Tiny("mistral"))), (Counts{12, 12}));
  EXPECT_EQ(Windows(ConfigWith("mistral", {{"sliding_window", "null"}})), (Counts{0, 0}));
  EXPECT_EQ(Windows(ConfigWith("mistral", {{"sliding_window", nullptr}})), (Counts{4096, 4096}));
  EXPECT_EQ(Windows(ReadFolderConfig(Tiny("qwen2"))), (Counts{0, 9}));
  EXPECT_EQ(Windows(ConfigWith("qwen2", {{"layer_types", nullptr}, {"max_window_layers", 0}})),
            (Counts{9, 9}));
  EXPECT_EQ(Windows(ConfigWith("qwen2", {{"use_sliding_window", false}})), (Counts{0, 0}));
  EXPECT_EQ(Windows(ReadFolderConfig(Tiny("gemma2"))), (Counts{12, 0, 12}));
  EXPECT_EQ(Windows(ReadFolderConfig(Tiny("gemma3"))), (Counts{11, 11, 0, 11}));
  EXPECT_EQ(
      Windows(ConfigWith("gemma3", {{"layer_types", nullptr}, {"sliding_window_pattern", 3}})),
      (Counts{11, 11, 0, 11}));
  EXPECT_EQ(Windows(ReadFolderConfig(Tiny("phi3-long"))), (Counts{15, 15}));
}

TEST(FolderModel, ReadsLayersWithoutPositions) {
  const ModelConfig config = ReadFolderConfig(Tiny("smollm3"));
  EXPECT_TRUE(config.attention[0].rotary);
  EXPECT_FALSE(config.attention[1].rotary);
  const ModelConfig every_third =
      ConfigWith("smollm3", {{"no_rope_layers", nullptr}, {"no_rope_layer_interval", 3}});
  EXPECT_TRUE(every_third.attention[1].rotary);
  EXPECT_FALSE(every_third.attention[2].rotary);
}

TEST(FolderModel, ReadsGemmasNumbers) {
  const ModelConfig gemma2 = ReadFolderConfig(Tiny("gemma2"));
  EXPECT_TRUE(gemma2.norm_adds_one);
  EXPECT_TRUE(gemma2.output_norms);
  EXPECT_DOUBLE_EQ(gemma2.embedding_scale, std::sqrt(30.0));
  EXPECT_DOUBLE_EQ(gemma2.logit_scale, 1.0 / std::sqrt(17.0));
  EXPECT_EQ(gemma2.attention_softcap, 2.0);
  EXPECT_EQ(gemma2.final_softcap, 5.0);
  EXPECT_EQ(ConfigWith("gemma2", {{"attn_logit_softcapping", nullptr}}).attention_softcap, 50.0);
  EXPECT_EQ(ConfigWith("gemma2", {{"attn_logit_softcapping", "null"}}).attention_softcap, 0.0);
  const ModelConfig gemma3 = ReadFolderConfig(Tiny("gemma3"));
  EXPECT_EQ(gemma3.rope_base, 4000.0);
  EXPECT_EQ(gemma3.rope_local_base, 300.0);
  EXPECT_TRUE(gemma3.attention[0].local);
  EXPECT_FALSE(gemma3.attention[2].local);
  EXPECT_EQ(gemma3.rope_scaling.kind, RopeScalingKind::kLinear);
}

// transformers 5 writes rope_parameters; before, the same stood in keys of their own.
TEST(FolderModel, ReadsRopeInItsOldAndNewForm) {
  const Json llama3 = {{"factor", 8.0},
                       {"low_freq_factor", 1.0},
                       {"high_freq_factor", 4.0},
                       {"original_max_position_embeddings", 32},
                       {"rope_type", "llama3"}};
  const ModelConfig now = ReadFolderConfig(Tiny("llama"));
  const ModelConfig before = ConfigWith(
      "llama", {{"rope_parameters", nullptr}, {"rope_theta", 500}, {"rope_scaling", llama3}});
  EXPECT_EQ(now.rope_scaling, before.rope_scaling);
  EXPECT_EQ(now.rope_base, 500.0);
  EXPECT_EQ(before.rope_base, 500.0);
  EXPECT_EQ(now.rope_scaling.kind, RopeScalingKind::kLlama3);
  EXPECT_EQ(now.rope_scaling.original_context, 32.0);

  const Json ropes = {
      {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 300.0}}},
      {"full_attention", {{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 4000.0}}}};
  const ModelConfig gemma3 = ConfigWith("gemma3", {{"rope_scaling", nullptr},
                                                   {"rope_theta", nullptr},
                                                   {"rope_local_base_freq", nullptr},
                                                   {"rope_parameters", ropes}});
  EXPECT_EQ(gemma3.rope_scaling, ReadFolderConfig(Tiny("gemma3")).rope_scaling);
  EXPECT_EQ(gemma3.rope_base, 4000.0);
  EXPECT_EQ(gemma3.rope_local_base, 300.0);
}

TEST(FolderModel, ReadsOtherRopeScalings) {
  EXPECT_FALSE(ReadFolderConfig(Tiny("llama-yarn-soft")).rope_scaling.truncate);
  EXPECT_TRUE(ReadFolderConfig(Tiny("llama-yarn")).rope_scaling.truncate);
  // mrope is plain in text, and in no other family known.
  const ModelConfig qwen = ReadFolderConfig(Tiny("qwen2-5-vl"));
  EXPECT_EQ(qwen.rope_scaling.kind, RopeScalingKind::kNone);
  EXPECT_EQ(qwen.rope_base, 500.0);
  EXPECT_THAT(ErrorWith("qwen2", {{"rope_scaling", {{"type", "mrope"}}}}),
              HasSubstr("rope scaling 'mrope' is not supported yet"));
  const ModelConfig longchat = ReadFolderConfig(Tiny("longchat"));
  EXPECT_EQ(longchat.rope_scaling.kind, RopeScalingKind::kLinear);
  EXPECT_EQ(longchat.rope_scaling.factor, 4.0);
  const ModelConfig dynamic = ReadFolderConfig(Tiny("llama-dynamic"));
  EXPECT_EQ(dynamic.rope_scaling.kind, RopeScalingKind::kDynamic);
  EXPECT_EQ(dynamic.rope_scaling.original_context, 32.0);
  EXPECT_EQ(dynamic.trained_context, 64);
  const ModelConfig phi3 = ReadFolderConfig(Tiny("phi3-long"));
  EXPECT_EQ(phi3.rope_dimensions, 6);
  EXPECT_EQ(phi3.rope_scaling.long_factors, (std::vector<double>{1.0, 1.5, 4.0}));
  // sqrt(1 + ln(128 / 32) / ln(32))
  EXPECT_NEAR(phi3.rope_scaling.attention_factor, 1.18321596, 1e-8);
  const ModelConfig neox = ReadFolderConfig(Tiny("gpt-neox-serial"));
  EXPECT_EQ(neox.rope_dimensions, 4);
  EXPECT_FALSE(neox.parallel_residual);
}

TEST(FolderModel, RefusesWhatItDoesNotFollow) {
  EXPECT_THAT(ErrorWith("llama", {{"model_type", "mamba"}}),
              AllOf(HasSubstr("'mamba' is not supported: it has state space layers"),
                    HasSubstr("gpt_neox")));
  EXPECT_THAT(ErrorWith("llama", {{"model_type", nullptr}}), HasSubstr("model_type is missing"));
  EXPECT_THAT(ErrorWith("llama", {{"hidden_act", "mish"}}), HasSubstr("activation 'mish'"));
  EXPECT_THAT(ErrorWith("llama", {{"quantization_config", {{"bits", 4}}}}),
              HasSubstr("quantization_config"));
  EXPECT_THAT(ErrorWith("llama", {{"rope_scaling", {{"type", "su"}, {"factor", 2}}}}),
              HasSubstr("0 rope factors for 4 rotated pairs"));
  EXPECT_THAT(ErrorWith("llama", {{"rope_scaling", {{"type", "new"}}}}),
              HasSubstr("rope scaling 'new' is not supported yet"));
  EXPECT_THAT(ErrorWith("qwen2", {{"layer_types", {"full_attention", "chunked_attention"}}}),
              HasSubstr("'chunked_attention'"));
  EXPECT_THAT(ErrorWith("mpt", {{"attn_config", {{"alibi", false}}}}),
              HasSubstr("its positions are learned"));
  EXPECT_THAT(ErrorWith("mpt", {{"attn_config", {{"qk_ln", true}}}}),
              HasSubstr("attn_config.qk_ln is true"));
  EXPECT_THAT(ErrorWith("gemma2", {{"use_bidirectional_attention", true}}),
              HasSubstr("use_bidirectional_attention is true"));
}

TEST(FolderModel, RefusesNumbersThatCannotBe) {
  EXPECT_THAT(ErrorWith("llama", {{"num_hidden_layers", 1025}}),
              HasSubstr("num_hidden_layers is 1025; it must be an integer from 1 to 1024"));
  EXPECT_THAT(ErrorWith("llama", {{"num_hidden_layers", 1.5}}), HasSubstr("is 1.5"));
  EXPECT_THAT(ErrorWith("llama", {{"hidden_size", "28"}}), HasSubstr("hidden_size is '28'"));
  EXPECT_THAT(ErrorWith("llama", {{"hidden_size", -1}}), HasSubstr("hidden_size is -1"));
  EXPECT_THAT(ErrorWith("llama", {{"vocab_size", nullptr}}), HasSubstr("vocab_size is missing"));
  EXPECT_THAT(ErrorWith("llama", {{"num_key_value_heads", 4}}),
              HasSubstr("6 heads cannot share 4 key-value heads"));
  EXPECT_THAT(ErrorWith("llama", {{"head_dim", 9}}), HasSubstr("heads of 9 dimensions"));
  EXPECT_THAT(ErrorWith("llama", {{"rms_norm_eps", 0}}), HasSubstr("rms_norm_eps is 0"));
  EXPECT_THAT(ErrorWith("mpt", {{"n_heads", 100}}), HasSubstr("not supported"));
  EXPECT_THAT(ErrorWith("smollm3", {{"no_rope_layers", {1, 0}}}),
              HasSubstr("no_rope_layers names 2 layers; the model has 4"));
  EXPECT_THAT(ErrorWith("llama", {{"rope_parameters", 3}}),
              HasSubstr("rope_parameters is 3; it must be an object"));
}

TEST(FolderModel, RefusesTensorsThatDoNotFit) {
  const auto open = [](const std::string& name, const std::string& key, const Json& value) {
    return OpenErrorWith(name, {{key, value}});
  };
  EXPECT_THAT(open("llama", "intermediate_size", 45),
              HasSubstr("has shape [44, 36]; the model needs [45, 36]"));
  EXPECT_THAT(open("llama", "num_hidden_layers", 1),
              HasSubstr("has no place in a llama decoder of 1 layers"));
  EXPECT_THAT(open("llama", "attention_bias", false), HasSubstr("has no place in a llama"));
  EXPECT_THAT(open("mistral", "num_hidden_layers", 3),
              HasSubstr("has no tensor 'model.layers.2.input_layernorm.weight'"));
  EXPECT_THAT(open("qwen3", "tie_word_embeddings", false),
              HasSubstr("has no output matrix 'lm_head.weight'"));
}

TEST(FolderModel, GraniteHasFactorsOfItsOwn) {
  const ModelConfig granite = ConfigWith("granite", {});
  EXPECT_EQ(granite.embedding_scale, 0.6);
  EXPECT_EQ(granite.update_scale, 0.8);
  EXPECT_EQ(granite.logit_scale, 0.3);
  EXPECT_EQ(granite.output_scale, 1.0 / 5.0);
  // transformers' default of attention_multiplier is 1, and not 1 / sqrt(head_dim).
  EXPECT_EQ(ConfigWith("granite", {{"attention_multiplier", nullptr}}).logit_scale, 1.0);
  EXPECT_THAT(ErrorWith("granite", {{"logits_scaling", 0.0}}), HasSubstr("logits_scaling"));
}

TEST(FolderModel, LayersOfCohere2AndExaone4HaveAWindowOrNoPositions) {
  for (const char* name : {"cohere2", "exaone4"}) {
    const ModelConfig pattern = ConfigWith(name, {{"layer_types", nullptr}});
    EXPECT_EQ(Windows(pattern), (Counts{10, 10, 10, 0})) << name;
    for (const LayerAttention& layer : pattern.attention)
      EXPECT_EQ(layer.rotary, layer.window > 0) << name;
    const Json half = {{"layer_types", nullptr}, {"sliding_window_pattern", 2}};
    EXPECT_EQ(Windows(ConfigWith(name, half)), (Counts{10, 0, 10, 0})) << name;
  }
  // Without windows EXAONE rotates everywhere.
  const ModelConfig global = ConfigWith("exaone4-global", {});
  for (const LayerAttention& layer : global.attention) EXPECT_TRUE(layer.rotary);
  EXPECT_EQ(Windows(global), (Counts{0, 0}));
}

TEST(FolderModel, OnlyWholeLayersOfOlmo3AreScaled) {
  for (const char* name : {"olmo3", "olmo3-old"}) {
    const ModelConfig config = ConfigWith(name, {});
    EXPECT_EQ(config.rope_scaling.kind, RopeScalingKind::kYarn) << name;
    EXPECT_EQ(config.rope_local_base, config.rope_base) << name;
    for (const LayerAttention& layer : config.attention)
      EXPECT_EQ(layer.local, layer.window > 0) << name;
    EXPECT_EQ(config.attention[3].window, 0);
  }
}

TEST(FolderModel, BlocksOfThePhiKindShareOneNorm) {
  for (const char* name : {"phi", "cohere", "stablelm-parallel"}) {
    const ModelConfig config = ConfigWith(name, {});
    EXPECT_TRUE(config.parallel_residual && config.shared_norm) << name;
  }
  EXPECT_FALSE(ConfigWith("stablelm", {}).parallel_residual);
  EXPECT_FALSE(ConfigWith("gpt-neox", {}).shared_norm);
  EXPECT_FALSE(ConfigWith("olmo", {}).norm_weights);
  EXPECT_THAT(OpenErrorWith("cohere", {{"use_qk_norm", true}}),
              HasSubstr("has no tensor 'model.layers.0.self_attn.q_norm.weight'"));
  EXPECT_THAT(ErrorWith("phi", {{"qk_layernorm", true}}), HasSubstr("qk_layernorm"));
}

TEST(FolderModel, RefusesFoldersAndFilesThatAreNoModels) {
  const auto error = [](const std::filesystem::path& path) {
    return ErrorMessage([&] { OpenModel(path.string()); });
  };
  const TemporaryFolder folder;
  EXPECT_THAT(error(folder.path()), HasSubstr("has no config.json"));
  // Its only model is opened.
  folder.Write("model.Q4_0.gguf", "GGUF");
  EXPECT_THAT(error(folder.path()), HasSubstr("model.Q4_0.gguf: the file ends inside the version"));
  folder.Write("config.json", "{");
  EXPECT_THAT(error(folder.path()), HasSubstr("is not JSON"));
  folder.Write("config.json", "[1]");
  EXPECT_THAT(error(folder.path()), HasSubstr("is not a JSON object"));
  folder.Write("config.json", std::string(100000, '['));
  EXPECT_THAT(error(folder.path()), HasSubstr("is not JSON"));
  EXPECT_THAT(error(Tiny("llama") / "model.safetensors"), HasSubstr("Name its folder"));
  folder.Write("weights.bin", "whatever");
  EXPECT_THAT(error(folder.path() / "weights.bin"), HasSubstr("pickle"));
  folder.Write("weights", "PK\x03\x04 zip");
  EXPECT_THAT(error(folder.path() / "weights"), HasSubstr("pickle"));
  EXPECT_THAT(error(folder.path() / "nothing.gguf"), HasSubstr("cannot be opened"));
  EXPECT_THAT(ErrorMessage([] { OpenModel("no-such/model"); }),
              HasSubstr("is neither a file nor a folder"));
}

TEST(HostileConfig, TwoThousandMutatedConfigurations) {
  std::mt19937_64 random(5);
  const TemporaryFolder folder;
  int refused = 0;
  const std::vector<std::string> names = {"llama", "gemma3", "phi3-long", "gpt-neox", "mpt"};
  for (int i = 0; i < 2000; ++i) {
    const std::string& name = names[static_cast<size_t>(i) % names.size()];
    std::ifstream file(Tiny(name) / "config.json");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const uint64_t places = 1 + random() % 4;
    for (uint64_t j = 0; j < places; ++j) {
      const size_t place = random() % text.size();
      if (random() % 2 == 0) {
        text[place] = static_cast<char>(text[place] ^ (1 << random() % 8));
      } else {
        text[place] = "0123456789,:[]{}\"-.e\xff"[random() % 22];
      }
    }
    if (random() % 8 == 0) text.resize(random() % text.size());
    folder.Write("config.json", text);
    // Anything but an Error (a crash, std::bad_alloc, a library's exception) fails the test.
    if (!ErrorMessage([&] { ReadFolderConfig(folder.path()); }).empty()) ++refused;
  }
  EXPECT_GT(refused, 500);
  EXPECT_LT(refused, 2000);
}

}  // namespace
}  // namespace midscope
