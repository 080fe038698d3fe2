// SPDX-License-Identifier: MIT
#include "core/model/gguf_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <limits>
#include <map>

#include "core/decoder/decoder.h"
#include "core/model/model_source.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/core/support/safetensors_parts.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::GgufWriter;
using test::TemporaryFile;
using test::TinyMetadata;
using test::TinyModel;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string OpenError(const GgufWriter& writer) {
  const TemporaryFile temporary(writer.Bytes());
  return ErrorMessage([&] { OpenGgufModel(temporary.path()); });
}

// The tiny model with one metadata number changed or added.
std::string WithNumber(const std::string& key, uint32_t value) {
  GgufWriter writer = TinyModel();
  return OpenError(writer.Remove(key).Uint32(key, value));
}

std::string WithFloat(const std::string& key, float value) {
  GgufWriter writer = TinyModel();
  return OpenError(writer.Remove(key).Float32(key, value));
}

TEST(GgufModel, ReadsTheEmbeddedModel) {
  const std::unique_ptr<ModelSource> model = OpenModel("embedded");
  const ModelConfig& config = model->config();
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
  EXPECT_NEAR(config.norm_epsilon, 1e-5, 1e-12);
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_EQ(config.quantisation, "Q4_1");
  EXPECT_EQ(config.parameters, 134515008);
  EXPECT_EQ(model->Find("29.down")->columns, 1536);
  EXPECT_EQ(model->Find("output"), nullptr);
}

TEST(GgufModel, ReadsATinyModel) {
  const TemporaryFile temporary(TinyModel().Bytes());
  const ModelConfig config = ReadGgufConfig(GgufFile(temporary.path()));
  EXPECT_EQ(config.head_dim, 4);
  EXPECT_EQ(config.vocabulary, 259);
  EXPECT_EQ(config.quantisation, "F32");
  EXPECT_EQ(config.name, "tiny");
}

TEST(GgufModel, SaysWhichArchitecturesAreSupported) {
  GgufWriter writer = TinyModel();
  writer.Remove("general.architecture").String("general.architecture", "mamba");
  EXPECT_THAT(OpenError(writer),
              AllOf(HasSubstr("'mamba' is not supported: it has state space layers"),
                    HasSubstr("Supported: llama"), HasSubstr("gptneox")));
  EXPECT_THAT(OpenError(writer.Remove("general.architecture")),
              HasSubstr("general.architecture is missing"));
}

ModelConfig ConfigOf(const GgufWriter& writer) {
  const TemporaryFile temporary(writer.Bytes());
  return ReadGgufConfig(GgufFile(temporary.path()));
}

TEST(GgufModel, ReadsRopeScaling) {
  EXPECT_EQ(ConfigOf(TinyModel()).rope_scaling.kind, RopeScalingKind::kNone);
  EXPECT_EQ(ConfigOf(TinyModel().String("llama.rope.scaling.type", "none")).rope_scaling.kind,
            RopeScalingKind::kNone);
  const ModelConfig linear = ConfigOf(TinyModel().Float32("llama.rope.scale_linear", 2.0f));
  EXPECT_EQ(linear.rope_scaling.kind, RopeScalingKind::kLinear);
  EXPECT_EQ(linear.rope_scaling.factor, 2.0);
  const ModelConfig yarn = ConfigOf(TinyModel()
                                        .String("llama.rope.scaling.type", "yarn")
                                        .Float32("llama.rope.scaling.factor", 4.0f)
                                        .Uint32("llama.rope.scaling.original_context_length", 16));
  EXPECT_EQ(yarn.rope_scaling.kind, RopeScalingKind::kYarn);
  EXPECT_EQ(yarn.rope_scaling.original_context, 16.0);
  EXPECT_NEAR(yarn.rope_scaling.attention_factor, 1.138629436, 1e-8);
}

// llama3's scaling comes as a factor for each pair; that is longrope with equal lists.
TEST(GgufModel, TakesRopeFactorsFromTensors) {
  const ModelConfig config = ConfigOf(TinyModel().Float32Tensor("rope_freqs.weight", {2}, {1, 8}));
  EXPECT_EQ(config.rope_scaling.kind, RopeScalingKind::kLongRope);
  EXPECT_EQ(config.rope_scaling.short_factors, (std::vector<double>{1, 8}));
  EXPECT_EQ(config.rope_scaling.long_factors, (std::vector<double>{1, 8}));
  EXPECT_EQ(config.rope_scaling.attention_factor, 1.0);
  EXPECT_EQ(config.parameters, ConfigOf(TinyModel()).parameters);
}

TEST(GgufModel, RefusesRopeScalingThatItCannotFollow) {
  EXPECT_THAT(OpenError(TinyModel().String("llama.rope.scaling.type", "su")),
              HasSubstr("rope scaling 'su' is not supported yet"));
  EXPECT_THAT(OpenError(TinyModel().String("llama.rope.scaling.type", "longrope")),
              HasSubstr("it has no tensor rope_factors_short.weight"));
  EXPECT_THAT(WithFloat("llama.rope.scaling.attn_factor", 1.5f), HasSubstr("attn_factor is 1.5"));
  EXPECT_THAT(OpenError(TinyModel().Float32Tensor("rope_freqs.weight", {3}, {1, 8, 9})),
              HasSubstr("tensor rope_freqs.weight has shape [3]; the model needs [2]"));
  EXPECT_THAT(OpenError(TinyModel().Float32Tensor("rope_freqs.weight", {2}, {1, 0})),
              HasSubstr("rope factors must be positive"));
  EXPECT_THAT(OpenError(TinyModel().Float32Tensor("rope_factors_long.weight", {2}, {1, 8})),
              HasSubstr("contradict each other"));
}

TEST(GgufModel, RefusesMetadataThatNobodyReads) {
  EXPECT_THAT(WithFloat("llama.attention.temperature_scale", 0.1f),
              HasSubstr("metadata 'llama.attention.temperature_scale' is set, which is not"));
}

// A bias is the model's where it has one, in all layers.
TEST(GgufModel, TakesBiasesThatAreThere) {
  GgufWriter writer = TinyModel();
  std::vector<float> bias(16);
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i);
  writer.Float32Tensor("blk.0.attn_q.bias", {16}, bias);
  EXPECT_THAT(OpenError(writer), HasSubstr("has no tensor 'blk.1.attn_q.bias'"));
  const TemporaryFile file(writer.Float32Tensor("blk.1.attn_q.bias", {16}, bias).Bytes());
  const std::unique_ptr<ModelSource> model = OpenGgufModel(file.path());
  const TensorRef* reference = model->Find("1.query.bias");
  ASSERT_NE(reference, nullptr);
  EXPECT_EQ(reference->rows, 1);
  EXPECT_EQ(reference->columns, 16);
  std::vector<float> values(16);
  std::memcpy(values.data(), reference->data, 64);
  // Heads of 4: rows 0, 2, 1, 3 of the file's interleaved order.
  EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 6),
            (std::vector<float>{0, 2, 1, 3, 4, 6}));
  EXPECT_EQ(model->Find("1.key.bias"), nullptr);
  EXPECT_EQ(model->Find("0.query")->row_order,
            (std::vector<int64_t>{0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15}));
}

// Heads of 8 dimensions of which 4 rotate. llama.cpp rotates rows 2j and 2j + 1 of the first 4 and
// leaves the others; a folder's rows j and j + 2 are the same pairs.
TEST(GgufModel, OrdersTheRotatedRowsAlone) {
  GgufWriter writer = TinyModel();
  writer.Remove("llama.attention.head_count").Uint32("llama.attention.head_count", 2);
  writer.Remove("llama.attention.head_count_kv").Uint32("llama.attention.head_count_kv", 1);
  writer.Uint32("llama.rope.dimension_count", 4);
  const test::TemporaryFile file(writer.Bytes());
  EXPECT_EQ(OpenGgufModel(file.path())->Find("0.key")->row_order,
            (std::vector<int64_t>{0, 2, 1, 3, 4, 5, 6, 7}));

  const std::map<std::string, std::string> names = {
      {"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
      {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
      {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
      {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
      {"ffn_down", "mlp.down_proj"}};
  test::SafetensorsParts parts;
  const GgufFile gguf(file.path());
  for (const GgufTensor& tensor : gguf.tensors()) {
    std::string bytes(reinterpret_cast<const char*>(tensor.data),
                      static_cast<size_t>(tensor.bytes));
    std::string name =
        tensor.name == "token_embd.weight" ? "model.embed_tokens.weight" : "model.norm.weight";
    if (tensor.name.starts_with("blk.")) {
      const std::string part = tensor.name.substr(6, tensor.name.size() - 6 - 7);
      name = "model.layers." + tensor.name.substr(4, 2) + names.at(part) + ".weight";
      if (part == "attn_q" || part == "attn_k") {
        const std::string rows = bytes;
        const size_t row_bytes = 16 * sizeof(float);
        for (size_t row = 0; row < rows.size() / row_bytes; ++row) {
          constexpr std::array<size_t, 8> kFrom = {0, 2, 1, 3, 4, 5, 6, 7};
          rows.copy(bytes.data() + row * row_bytes, row_bytes,
                    (row / 8 * 8 + kFrom.at(row % 8)) * row_bytes);
        }
      }
    }
    parts[name] = {"F32", tensor.shape, bytes};
  }
  // phi3, which rotates a part of each head, has these in one tensor each.
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    const auto fuse = [&](const std::string& name, const std::vector<std::string>& from) {
      test::SafetensorsPart whole{"F32", {0, 16}, ""};
      for (const std::string& part : from) {
        const auto found = parts.extract(layer + part + "_proj.weight");
        whole.shape[0] += found.mapped().shape[0];
        whole.bytes += found.mapped().bytes;
      }
      parts[layer + name + "_proj.weight"] = whole;
    };
    fuse("self_attn.qkv", {"self_attn.q", "self_attn.k", "self_attn.v"});
    fuse("mlp.gate_up", {"mlp.gate", "mlp.up"});
  }
  const test::TemporaryFolder folder;
  folder.Write("model.safetensors", test::WriteSafetensors(parts));
  folder.Write("config.json", R"({"model_type": "phi3", "num_hidden_layers": 2, "hidden_size": 16,
      "intermediate_size": 24, "vocab_size": 259, "num_attention_heads": 2, "head_dim": 8,
      "num_key_value_heads": 1, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
      "tie_word_embeddings": true, "partial_rotary_factor": 0.5})");
  std::filesystem::copy(MIDSCOPE_TESTS
                        "/core/golden/tiny_models"
                        "/llama/tokenizer.json",
                        folder.path() / "tokenizer.json");
  const std::vector<int32_t> ids = {5, 9, 200, 3, 77, 5, 9};
  std::array<std::vector<float>, 2> logits;
  for (const bool is_gguf : {false, true}) {
    const auto decoder = Decoder::Open(is_gguf ? file.path().string() : folder.path().string(),
                                       {kernels::Dtype::kFloat32, 1});
    RunRequest request;
    request.ids = ids;
    const RunResult result = decoder->RunOne(request);
    const auto row = result.Logits(static_cast<int64_t>(ids.size()) - 1);
    logits[is_gguf].assign(row.begin(), row.end());
  }
  EXPECT_LE(test::Difference(logits[0], logits[1]), 1e-6 * test::Largest(logits[0]));
}

// Query, key and value may be in one tensor; llama's pairs are adjacent there, too.
TEST(GgufModel, TakesQueryKeyAndValueFromOneTensor) {
  GgufWriter writer = TinyMetadata();
  const test::TemporaryFile separate(TinyModel().Bytes());
  const GgufFile parts(separate.path());
  const auto values_of = [&](const std::string& name) {
    const GgufTensor& tensor = parts.Require(name);
    std::vector<float> values(static_cast<size_t>(tensor.elements()));
    std::memcpy(values.data(), tensor.data, static_cast<size_t>(tensor.bytes));
    return values;
  };
  for (const GgufTensor& tensor : parts.tensors()) {
    const bool is_part = tensor.name.ends_with("attn_q.weight") ||
                         tensor.name.ends_with("attn_k.weight") ||
                         tensor.name.ends_with("attn_v.weight");
    if (!is_part) writer.Float32Tensor(tensor.name, tensor.shape, values_of(tensor.name));
  }
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    std::vector<float> fused;
    for (const char* part : {"attn_q.weight", "attn_k.weight", "attn_v.weight"}) {
      const std::vector<float> values = values_of(layer + part);
      fused.insert(fused.end(), values.begin(), values.end());
    }
    writer.Float32Tensor(layer + "attn_qkv.weight", {32, 16}, fused);
  }
  const test::TemporaryFile together(writer.Bytes());
  const auto expected = OpenGgufModel(separate.path());
  const auto model = OpenGgufModel(together.path());
  for (const char* name : {"0.query", "1.key", "1.value"}) {
    const TensorRef& one = *model->Find(name);
    const TensorRef& other = *expected->Find(name);
    ASSERT_EQ(one.rows, other.rows) << name;
    for (int64_t row = 0; row < one.rows; ++row)
      EXPECT_EQ(std::memcmp(one.Row(row), other.Row(row), 64), 0) << name << " " << row;
  }
}

// llama.cpp takes one number, or one per layer.
TEST(GgufModel, TakesEqualNumbersOfLayers) {
  for (const char* name : {"attention.head_count_kv", "attention.head_count", "feed_forward_length",
                           "expert_used_count"}) {
    const std::string key = std::string("llama.") + name;
    const TemporaryFile plain(TinyModel().Bytes());
    const auto value = static_cast<int32_t>(GgufFile(plain.path()).GetInt(key).value_or(0));
    GgufWriter writer = TinyModel();
    EXPECT_EQ(OpenError(writer.Remove(key).Int32s(key, {value, value})), "") << key;
    EXPECT_THAT(OpenError(writer.Remove(key).Int32s(key, {value, value + 1})),
                HasSubstr(key + " differs between layers (" + std::to_string(value)))
        << key;
    for (const std::vector<int32_t>& other : {std::vector<int32_t>{}, {value}, {1, 2, 3}})
      EXPECT_THAT(OpenError(writer.Remove(key).Int32s(key, other)),
                  HasSubstr("must be one number, or one per layer"))
          << key;
  }
  GgufWriter layers = TinyModel();
  EXPECT_THAT(OpenError(layers.Remove("llama.block_count").Int32s("llama.block_count", {2, 2})),
              HasSubstr("llama.block_count is an array"));
}

// The decoder ignores the pooling that embedding models apply to the last layer's output.
TEST(GgufModel, IgnoresThePoolingOfEmbeddingModels) {
  EXPECT_EQ(WithNumber("llama.pooling_type", 3), "");
}

TEST(GgufModel, NamesTensorTypesThatAreNotRead) {
  GgufWriter writer = TinyMetadata();
  writer.RawTensor("token_embd.weight", {256, 259}, 40, 0);
  EXPECT_THAT(OpenError(writer),
              AllOf(HasSubstr("'token_embd.weight' has the type NVFP4, which is not supported"),
                    HasSubstr("Supported: F32, F16"), HasSubstr("IQ4_XS"), HasSubstr("Q4_K_M")));
  for (const auto& [type, name] : {std::pair{15u, "Q8_K"}, {28u, "F64"}, {99u, "number 99"}}) {
    GgufWriter other = TinyMetadata();
    other.RawTensor("token_embd.weight", {256, 259}, type, 0);
    EXPECT_THAT(OpenError(other), HasSubstr(name));
  }
}

TEST(GgufModel, RefusesNumbersThatCannotBe) {
  EXPECT_THAT(WithNumber("llama.attention.head_count_kv", 3),
              HasSubstr("4 heads cannot share 3 key-value heads"));
  EXPECT_THAT(WithNumber("llama.attention.head_count_kv", 8), HasSubstr("4 heads cannot share 8"));
  EXPECT_THAT(WithNumber("llama.attention.head_count", 0),
              HasSubstr("head_count is 0; it must be from 1"));
  EXPECT_THAT(WithNumber("llama.attention.head_count", UINT32_MAX), HasSubstr("it must be from 1"));
  EXPECT_THAT(WithNumber("llama.embedding_length", 18),
              HasSubstr("a width of 18 is not a multiple of 4 heads"));
  EXPECT_THAT(WithNumber("llama.rope.dimension_count", 3), HasSubstr("rotating 3 of 4 dimensions"));
  EXPECT_THAT(WithNumber("llama.rope.dimension_count", 6), HasSubstr("rotating 6 of 4 dimensions"));
  EXPECT_THAT(WithNumber("llama.attention.value_length", 8),
              HasSubstr("keys of 4 and values of 8"));
  EXPECT_THAT(WithNumber("llama.vocab_size", 300),
              HasSubstr("its tokenizer has 259 tokens, the model 300"));
  EXPECT_THAT(WithNumber("llama.expert_count", 8), HasSubstr("llama.expert_used_count is missing"));
  EXPECT_THAT(WithNumber("llama.context_length", 0), HasSubstr("context_length is 0"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(WithFloat("llama.rope.freq_base", nan), HasSubstr("must be a positive number"));
  EXPECT_THAT(WithFloat("llama.attention.layer_norm_rms_epsilon", -1.0f),
              HasSubstr("must be a positive number"));
  EXPECT_THAT(WithFloat("llama.logit_scale", 0.5f),
              HasSubstr("metadata 'llama.logit_scale' is set"));
  GgufWriter missing = TinyModel();
  EXPECT_THAT(OpenError(missing.Remove("llama.block_count")),
              HasSubstr("llama.block_count is missing"));
}

TEST(GgufModel, RefusesTensorsThatDoNotFit) {
  EXPECT_THAT(WithNumber("llama.feed_forward_length", 32),
              HasSubstr("has shape [24, 16]; the model needs [32, 16]"));
  EXPECT_THAT(WithNumber("llama.block_count", 3),
              HasSubstr("has no tensor 'blk.2.attn_norm.weight'"));
  EXPECT_THAT(WithNumber("llama.block_count", 1),
              HasSubstr("has no place in a llama decoder of 1 layers"));
  EXPECT_THAT(
      OpenError(TinyModel().Float32Tensor("blk.0.attn_norm.bias", {16}, std::vector<float>(16))),
      HasSubstr("tensor 'blk.0.attn_norm.bias' has no place"));
  EXPECT_THAT(OpenError(TinyMetadata()), HasSubstr("has no tensor"));
}

// Reading from it would wait for a writer.
TEST(OpenModel, ANamedPipeIsRefused) {
  const test::TemporaryFolder folder;
  const std::filesystem::path pipe = folder.path() / "model.gguf";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(test::ErrorMessage([&] { OpenModel(pipe.string()); }),
              ::testing::HasSubstr("is not a regular file"));
}

}  // namespace
}  // namespace midscope
