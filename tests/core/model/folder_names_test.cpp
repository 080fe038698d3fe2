// SPDX-License-Identifier: MIT
// Variants of tensor names in published folders: the text part of image-text models under the names
// of old and new versions of transformers, base models without "model." and head, output matrices
// and tie_word_embeddings. The numbers are tested in families_test.cpp, on the same tiny models.
#include "core/model/folder_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/decoder/decoder.h"
#include "core/model/folder_model.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/safetensors_parts.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::ReadSafetensors;
using test::SafetensorsParts;
using test::TemporaryFolder;
using test::TinyModelFolder;
using test::WriteSafetensors;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

// A tiny model whose files are changed.
class Changed {
 public:
  explicit Changed(const std::string& name) : folder_(TinyModelFolder(name)) {}

  Changed& Tensors(const std::function<void(SafetensorsParts*)>& change) {
    SafetensorsParts parts = ReadSafetensors(folder_.Read("model.safetensors"));
    change(&parts);
    folder_.Write("model.safetensors", WriteSafetensors(parts));
    return *this;
  }
  Changed& Names(const std::function<std::string(const std::string&)>& rename) {
    return Tensors([&](SafetensorsParts* parts) {
      SafetensorsParts renamed;
      for (auto& [name, part] : *parts) renamed[rename(name)] = part;
      *parts = renamed;
    });
  }
  Changed& Config(const std::function<void(Json*)>& change) {
    Json json = Json::parse(folder_.Read("config.json"));
    change(&json);
    folder_.Write("config.json", json.dump());
    return *this;
  }
  std::unique_ptr<ModelSource> Open() const { return OpenFolderModel(folder_.path()); }
  std::string Error() const {
    return ErrorMessage([&] { Open(); });
  }
  std::string path() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
};

void ExpectSameTensors(const ModelSource& actual, const ModelSource& expected) {
  const ModelConfig& config = expected.config();
  ASSERT_EQ(actual.config().layers, config.layers);
  EXPECT_EQ(actual.config().tied_embeddings, config.tied_embeddings);
  std::vector<std::string> names = {"token_embedding", "final_norm", "output"};
  for (const char* part : {"query", "key.bias", "attention_out", "down", "mlp_norm", "query_norm"})
    names.push_back(std::to_string(config.layers - 1) + "." + part);
  for (const std::string& name : names) {
    const TensorRef* a = actual.Find(name);
    const TensorRef* b = expected.Find(name);
    ASSERT_EQ(a == nullptr, b == nullptr) << name;
    if (a == nullptr) continue;
    ASSERT_EQ(a->rows * a->row_bytes, b->rows * b->row_bytes) << name;
    EXPECT_EQ(std::memcmp(a->data, b->data, static_cast<size_t>(a->rows * a->row_bytes)), 0)
        << name;
  }
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  if (text.starts_with(from)) text.replace(0, from.size(), to);
  return text;
}

// transformers 4.50 and 5 write language_model.model., versions between model.language_model., base
// classes language_model.
TEST(FolderNames, TextPartsUnderAllTheirNames) {
  for (const char* name : {"gemma3-pictures", "mistral3"}) {
    const auto expected = OpenFolderModel(TinyModelFolder(name));
    Changed between(name);
    between.Names([](const std::string& tensor) {
      if (tensor.starts_with("language_model.lm_head."))
        return Replaced(tensor, "language_model.", "");
      if (tensor.starts_with("language_model."))
        return Replaced(tensor, "language_model.model.", "model.language_model.");
      return "model." + tensor;
    });
    ExpectSameTensors(*between.Open(), *expected);
    EXPECT_EQ(between.Open()->config().notes, expected->config().notes);
    Changed bare(name);
    bare.Names([](const std::string& tensor) {
      return Replaced(tensor, "language_model.model.", "language_model.");
    });
    ExpectSameTensors(*bare.Open(), *expected);
  }
  const auto expected = OpenFolderModel(TinyModelFolder("qwen2-5-vl"));
  Changed between("qwen2-5-vl");
  between.Names([](const std::string& tensor) {
    if (tensor.starts_with("visual.")) return "model." + tensor;
    return Replaced(tensor, "model.", "model.language_model.");
  });
  ExpectSameTensors(*between.Open(), *expected);
}

TEST(FolderNames, SaysWhatIsLeftOut) {
  EXPECT_THAT(OpenFolderModel(TinyModelFolder("gemma3-pictures"))->config().notes,
              ElementsAre(HasSubstr("only the text part is read: ")));
  const auto gemma = OpenFolderModel(TinyModelFolder("gemma3-pictures"));
  EXPECT_EQ(gemma->config().architecture, "gemma3");
  EXPECT_TRUE(gemma->config().tied_embeddings);
  EXPECT_EQ(OpenFolderModel(TinyModelFolder("qwen2-5-vl"))->config().architecture, "qwen2_5_vl");
  EXPECT_THAT(OpenFolderModel(TinyModelFolder("llama"))->config().notes, IsEmpty());
}

// google/gemma-3-4b-it states no more than this of its text part.
TEST(FolderNames, Gemma3LeavesOutWhatEqualsTheDefaults) {
  const TemporaryFolder folder;
  folder.Write("config.json", R"({"model_type": "gemma3", "text_config": {"hidden_size": 2560,
      "intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34,
      "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024},
      "vision_config": {"model_type": "siglip_vision_model"}})");
  const ModelConfig config = ReadFolderConfig(folder.path());
  EXPECT_EQ(config.heads, 8);
  EXPECT_EQ(config.key_value_heads, 4);
  EXPECT_EQ(config.head_dim, 256);
  EXPECT_EQ(config.vocabulary, 262208);
  EXPECT_EQ(config.trained_context, 131072);
  EXPECT_EQ(config.rope_base, 1000000.0);
  EXPECT_EQ(config.rope_scaling.factor, 8.0);
  EXPECT_EQ(config.attention[4].window, 1024);
  EXPECT_EQ(config.attention[5].window, 0);
  EXPECT_TRUE(config.tied_embeddings);
}

TEST(FolderNames, RefusesOtherTextParts) {
  const auto error = [](const char* name, const std::function<void(Json*)>& change) {
    return Changed(name).Config(change).Error();
  };
  EXPECT_THAT(error("gemma3-pictures", [](Json* json) { json->erase("text_config"); }),
              HasSubstr("has no text_config"));
  EXPECT_THAT(
      error("mistral3", [](Json* json) { (*json)["text_config"]["model_type"] = "mixtral"; }),
      AllOf(HasSubstr("its text part has the model_type 'mixtral', which is not supported yet"),
            HasSubstr("Supported there: mistral, ministral3")));
  EXPECT_THAT(
      error("gemma3-pictures",
            [](Json* json) { (*json)["text_config"]["use_bidirectional_attention"] = true; }),
      HasSubstr("use_bidirectional_attention is true"));
  EXPECT_THAT(error("mistral3", [](Json* json) { (*json)["text_config"].erase("vocab_size"); }),
              HasSubstr("text_config.vocab_size"));
  EXPECT_THAT(
      error("llama", [](Json* json) { (*json)["model_type"] = "nonesuch"; }),
      AllOf(HasSubstr("mistral3, llama4, qwen2_5_vl"), HasSubstr("core/model/families/README.md")));
  // A tensor that is not in a list must not be left out.
  Changed unknown("mistral3");
  unknown.Tensors([](SafetensorsParts* parts) {
    (*parts)["audio_tower.weight"] = parts->at("language_model.model.norm.weight");
  });
  EXPECT_THAT(unknown.Error(), HasSubstr("tensor 'audio_tower.weight' has no place"));
  Changed twice("mistral3");
  twice.Tensors([](SafetensorsParts* parts) {
    (*parts)["model.norm.weight"] = parts->at("language_model.model.norm.weight");
  });
  EXPECT_THAT(twice.Error(), HasSubstr("has two tensors for 'model.norm.weight'"));
}

TEST(FolderNames, BaseModelsHaveNoPrefix) {
  const auto bare = [](const std::string& name, const std::string& prefix) {
    Changed changed(name);
    changed.Names([&](const std::string& tensor) { return Replaced(tensor, prefix, ""); });
    return changed.Open();
  };
  ExpectSameTensors(*bare("qwen3", "model."), *OpenFolderModel(TinyModelFolder("qwen3")));
  ExpectSameTensors(*bare("mistral", "model."), *OpenFolderModel(TinyModelFolder("mistral")));
  ExpectSameTensors(*bare("gpt-neox", "gpt_neox."), *OpenFolderModel(TinyModelFolder("gpt-neox")));
  ExpectSameTensors(*bare("mpt", "transformer."), *OpenFolderModel(TinyModelFolder("mpt")));

  Changed headless("mistral");
  headless.Names([](const std::string& tensor) { return Replaced(tensor, "model.", ""); });
  headless.Tensors([](SafetensorsParts* parts) { parts->erase("lm_head.weight"); });
  EXPECT_THAT(headless.Error(), AllOf(HasSubstr("has no output matrix 'lm_head.weight'"),
                                      HasSubstr("it was saved as a base model, without its head")));
}

// transformers 5: "both are present in the checkpoints with different values, so we will NOT tie
// them"; what it computes then is in llama-other-head/expected.json.
TEST(FolderNames, AnOutputMatrixOfOtherValuesIsUsed) {
  const auto other = OpenFolderModel(TinyModelFolder("llama-other-head"));
  EXPECT_FALSE(other->config().tied_embeddings);
  EXPECT_THAT(other->config().notes,
              ElementsAre(AllOf(HasSubstr("tie_word_embeddings is set"),
                                HasSubstr("'lm_head.weight' of other values"))));
  EXPECT_NE(other->Find("output"), nullptr);

  std::vector<std::string> log;
  JobContext context;
  context.log = [&](const std::string& line) { log.push_back(line); };
  Decoder::Open(TinyModelFolder("llama-other-head"), {kernels::Dtype::kFloat32, 1}, context);
  EXPECT_THAT(log, ElementsAre(HasSubstr("model: tie_word_embeddings is set")));

  Changed equal("llama-other-head");
  equal.Tensors([](SafetensorsParts* parts) {
    parts->at("lm_head.weight") = parts->at("model.embed_tokens.weight");
  });
  EXPECT_TRUE(equal.Open()->config().tied_embeddings);
  EXPECT_THAT(equal.Open()->config().notes, IsEmpty());

  // Equal numbers in another type are equal.
  Changed wider("llama-other-head");
  wider.Tensors([](SafetensorsParts* parts) {
    test::SafetensorsPart head = parts->at("model.embed_tokens.weight");
    std::string floats;
    for (size_t i = 0; i < head.bytes.size(); i += 2)
      floats += std::string(2, '\0') + head.bytes.substr(i, 2);
    parts->at("lm_head.weight") = {"F32", head.shape, floats};
  });
  EXPECT_TRUE(wider.Open()->config().tied_embeddings);

  // Where only the output matrix is there, transformers ties the embeddings to it.
  Changed alone("llama-other-head");
  alone.Tensors([](SafetensorsParts* parts) { parts->erase("model.embed_tokens.weight"); });
  const auto source = alone.Open();
  EXPECT_TRUE(source->config().tied_embeddings);
  EXPECT_EQ(source->Find("token_embedding")->file_name, "lm_head.weight");
}

TEST(FolderNames, ErrorsNameTheFilesTensor) {
  const auto error = [](const char* model, const char* tensor) {
    Changed changed(model);
    changed.Tensors([&](SafetensorsParts* parts) {
      std::string& bytes = parts->at(tensor).bytes;
      bytes[0] = '\xff';  // bfloat16 NaN
      bytes[1] = '\x7f';
    });
    return ErrorMessage([&] {
      const auto decoder = Decoder::Open(changed.path(), {kernels::Dtype::kFloat32, 1});
      RunRequest request;
      const std::vector<int32_t> ids = {1, 2, 3};
      request.ids = ids;
      decoder->RunOne(request);
    });
  };
  EXPECT_THAT(error("mistral3", "language_model.model.layers.1.mlp.up_proj.weight"),
              HasSubstr("tensor language_model.model.layers.1.mlp.up_proj.weight holds values that "
                        "are not finite"));
  EXPECT_THAT(error("mistral", "model.layers.1.input_layernorm.weight"),
              HasSubstr("tensor model.layers.1.input_layernorm.weight holds values"));
  EXPECT_THAT(error("llama", "model.layers.0.self_attn.k_proj.bias"),
              HasSubstr("tensor model.layers.0.self_attn.k_proj.bias holds values"));
}

}  // namespace
}  // namespace midscope
