// SPDX-License-Identifier: MIT
// Peculiarities of published folders: keys that a family's class in transformers ignores, JSON as
// Python writes it, tensors of other dtypes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "core/model/folder_model.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/safetensors_parts.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::ErrorMessage;
using test::ErrorWith;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

// As the classes of transformers 5.24: llama's and others rotate whole heads.
TEST(PublishedFolders, NotesAPartialRotationThatTheFamilyDoesNotRead) {
  for (const char* name : {"qwen2", "falcon", "mistral", "olmo", "cohere"}) {
    const ModelConfig plain = ConfigWith(name, {});
    const ModelConfig config = ConfigWith(name, {{"partial_rotary_factor", 0.5}});
    EXPECT_EQ(config.rope_dimensions, plain.rope_dimensions) << name;
    ASSERT_EQ(config.notes.size(), plain.notes.size() + 1) << name;
    EXPECT_THAT(config.notes.back(), HasSubstr("partial_rotary_factor is 0.5")) << name;
  }
  for (const char* name : {"llama", "olmo3", "gemma3"})
    EXPECT_THAT(ErrorWith(name, {{"partial_rotary_factor", 0.5}}),
                HasSubstr("beside a rope scaling"));
  const Json scaled = {{"rope_type", "linear"}, {"factor", 2.0}, {"partial_rotary_factor", 0.5}};
  EXPECT_THAT(ErrorWith("qwen2", {{"rope_parameters", nullptr}, {"rope_scaling", scaled}}),
              HasSubstr("partial_rotary_factor is 0.5 beside a rope scaling"));
  // The readers of phi3, glm and others accept it.
  for (const char* name : {"phi3", "glm", "nemotron", "stablelm", "phi"}) {
    const ModelConfig config = ConfigWith(
        name,
        {{"partial_rotary_factor", 0.5}, {"rope_parameters", nullptr}, {"rope_scaling", nullptr}});
    EXPECT_EQ(config.rope_dimensions, config.head_dim / 2) << name;
    EXPECT_TRUE(config.notes.empty()) << name;
  }
}

// transformers reads the key in Gemma 3 and never applies it.
TEST(PublishedFolders, NotesASoftCapThatGemma3DoesNotApply) {
  const ModelConfig config = ConfigWith("gemma3", {{"attn_logit_softcapping", 50.0}});
  EXPECT_EQ(config.attention_softcap, 0.0);
  ASSERT_FALSE(config.notes.empty());
  EXPECT_THAT(config.notes.back(), HasSubstr("attn_logit_softcapping is 50"));
  EXPECT_EQ(ConfigWith("gemma3", {{"final_logit_softcapping", 30.0}}).final_softcap, 30.0);
}

// As transformers takes them: beta_fast or 32.
TEST(PublishedFolders, TakesZeroBetasAsTheDefaults) {
  const Json yarn = {{"rope_type", "yarn"}, {"factor", 4.0}, {"beta_fast", 0}, {"beta_slow", 0}};
  const ModelConfig config =
      ConfigWith("qwen2", {{"rope_parameters", nullptr}, {"rope_scaling", yarn}});
  EXPECT_EQ(config.rope_scaling.beta_fast, 32.0);
  EXPECT_EQ(config.rope_scaling.beta_slow, 1.0);
}

// Python writes Infinity and NaN into config.json, which the tokenizer reads, too.
TEST(PublishedFolders, ReadsPythonsNumbers) {
  const TemporaryFolder folder(test::TinyModelFolder("llama"));
  std::string config = folder.Read("config.json");
  config.replace(config.find('{'), 1,
                 R"({"time_step_limit": [0.0, Infinity], "x": NaN, "y": -Infinity, "z": "NaN",)");
  folder.Write("config.json", config);
  EXPECT_EQ(OpenFolderModel(folder.path())->MakeTokenizer()->vocabulary(),
            OpenFolderModel(test::TinyModelFolder("llama"))->MakeTokenizer()->vocabulary());
  folder.Write("config.json", R"({"model_type": NaN)");
  EXPECT_THAT(ErrorMessage([&] { OpenModel(folder.path().string()); }),
              HasSubstr("character 20 on (unexpected end of input"));
}

// F64 is cast, as transformers does; other types are an error only where the decoder needs them.
TEST(PublishedFolders, CastsDoubles) {
  const TemporaryFolder folder(test::TinyModelFolder("llama"));
  const auto original = test::ReadSafetensors(folder.Read("model.safetensors"));
  test::SafetensorsParts parts = original;
  const std::string name = "model.norm.weight";
  const auto elements = static_cast<size_t>(original.at(name).shape[0]);
  parts[name] = {"F64", original.at(name).shape, ""};
  for (size_t i = 0; i < elements; ++i) {
    const double value = 1.0 + static_cast<double>(i) / 3;
    parts[name].bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  folder.Write("model.safetensors", test::WriteSafetensors(parts));
  const auto model = OpenFolderModel(folder.path());
  const TensorRef* norm = model->Find("final_norm");
  EXPECT_EQ(norm->format.name, "F32");
  float third = 0;
  std::memcpy(&third, norm->data + sizeof(float), sizeof third);
  EXPECT_EQ(third, static_cast<float>(1.0 + 1.0 / 3));
  EXPECT_EQ(model->config().copied_bytes, static_cast<int64_t>(elements * sizeof(float)));

  const auto error = [&] { return ErrorMessage([&] { OpenFolderModel(folder.path()); }); };
  parts[name] = {"I16", original.at(name).shape, std::string(2 * elements, '\1')};
  folder.Write("model.safetensors", test::WriteSafetensors(parts));
  EXPECT_THAT(error(), AllOf(HasSubstr("'model.norm.weight' has the dtype I16"),
                             HasSubstr("Supported: F32, F16, BF16, F64")));
  parts = original;
  parts["model.steps"] = {"I64", {1}, std::string(8, '\1')};
  folder.Write("model.safetensors", test::WriteSafetensors(parts));
  EXPECT_THAT(error(), HasSubstr("tensor 'model.steps' has no place"));
}

}  // namespace
}  // namespace midscope
