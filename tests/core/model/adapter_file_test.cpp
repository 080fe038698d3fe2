// SPDX-License-Identifier: MIT
// Faults of adapters; adapter_golden_test compares their numbers with PEFT's.
#include "core/model/adapter_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/core/support/safetensors_parts.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string adapters_folder = MIDSCOPE_TESTS "/core/golden/adapters/";
const std::string gguf_adapter_file = adapters_folder + "gguf-llama-q8_0.gguf";

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::unique_ptr<ModelSource> Source(const std::string& name) {
  return OpenModel(test::TinyModelPath(name));
}

std::string ReadError(const std::filesystem::path& adapter, const std::string& model) {
  const auto source = Source(model);
  return ErrorMessage([&] { ReadAdapterFile(adapter, *source); });
}

// Writes the llama adapter with another configuration or other tensors.
struct ChangedAdapter {
  ChangedAdapter()
      : config(nlohmann::json::parse(Bytes(adapters_folder + "llama/adapter_config.json"))),
        tensors(test::ReadSafetensors(Bytes(adapters_folder + "llama/adapter_model.safetensors"))) {
  }
  std::string Error(const std::string& model = "llama") const {
    folder.Write("adapter_config.json", config.dump());
    folder.Write("adapter_model.safetensors", test::WriteSafetensors(tensors));
    return ReadError(folder.path(), model);
  }
  test::TemporaryFolder folder;
  nlohmann::json config;
  test::SafetensorsParts tensors;
};

constexpr const char* kQueryA = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight";

TEST(AdapterFile, RefusesWhatItDoesNotFollow) {
  EXPECT_EQ(ChangedAdapter().Error(), "");
  const auto with = [](const std::string& key, const nlohmann::json& value) {
    ChangedAdapter adapter;
    adapter.config[key] = value;
    return adapter.Error();
  };
  EXPECT_EQ(with("fan_in_fan_out", true), "");
  EXPECT_THAT(with("peft_type", "IA3"), HasSubstr("not LORA"));
  EXPECT_THAT(with("bias", "all"), HasSubstr("bias"));
  EXPECT_THAT(with("use_dora", true), AllOf(HasSubstr("use_dora"), HasSubstr("merge_and_unload")));
  EXPECT_THAT(with("rank_pattern", {{"q_proj", 4}}), HasSubstr("rank_pattern"));
  EXPECT_THAT(with("r", 4), HasSubstr("the shape is [3, 36]; the model needs [4, 36]"));
  EXPECT_THAT(with("r", 0), HasSubstr("r"));
  EXPECT_THAT(with("lora_alpha", -1), HasSubstr("lora_alpha"));
}

TEST(AdapterFile, RefusesOtherModels) {
  EXPECT_THAT(ReadError(adapters_folder + "llama", "qwen2"), HasSubstr("the model needs"));
  EXPECT_THAT(ReadError(adapters_folder + "llama", "gpt-neox"),
              AllOf(HasSubstr("belongs to no projection"), HasSubstr("made for")));
  EXPECT_THAT(ReadError(adapters_folder + "gpt2", "llama"), HasSubstr("c_attn"));
  EXPECT_THAT(ReadError(gguf_adapter_file, "gguf-qwen2"),
              AllOf(HasSubstr("architecture 'llama'"), HasSubstr("'qwen2'")));
  ChangedAdapter head;
  head.tensors["base_model.model.lm_head.lora_A.weight"] = head.tensors.at(kQueryA);
  EXPECT_THAT(head.Error(), AllOf(HasSubstr("lm_head"), HasSubstr("output matrices")));
}

TEST(AdapterFile, RefusesBrokenTensors) {
  ChangedAdapter half;
  half.tensors.erase(kQueryA);
  EXPECT_THAT(half.Error(), HasSubstr("only one of the two matrices"));
  ChangedAdapter integers;
  integers.tensors.at(kQueryA).dtype = "I32";
  EXPECT_THAT(integers.Error(), HasSubstr("the dtype I32 is not supported"));
  ChangedAdapter infinite;
  infinite.tensors.at(kQueryA).bytes.replace(0, 4, std::string("\x00\x00\x80\x7f", 4));
  EXPECT_THAT(infinite.Error(), HasSubstr("not finite"));
}

TEST(AdapterFile, NamesWhatIsNoAdapter) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(ReadError(folder.path(), "llama"), HasSubstr("neither adapter_config.json"));
  EXPECT_THAT(ReadError(adapters_folder + "llama/adapter_model.safetensors", "llama"),
              HasSubstr("Name its folder"));
  EXPECT_THAT(ErrorMessage([] { ResolveAdapter("no/such/folder"); }), HasSubstr("no such file"));
  folder.Write("adapter_config.json", Bytes(adapters_folder + "llama/adapter_config.json"));
  folder.Write("adapter_model.bin", "");
  EXPECT_THAT(ReadError(folder.path(), "llama"), HasSubstr("safe_serialization"));
  EXPECT_THAT(ReadError(test::TinyModelPath("gguf-llama"), "gguf-llama"),
              HasSubstr("general.type is 'model', not 'adapter'"));
}

test::GgufWriter AdapterWriter(const std::string& type) {
  test::GgufWriter writer;
  writer.String("general.architecture", "llama")
      .String("general.type", "adapter")
      .String("adapter.type", type);
  return writer;
}

TEST(AdapterFile, ReadsTheMetadataOfGgufAdapters) {
  const test::TemporaryFolder folder;
  const auto error = [&](const test::GgufWriter& writer) {
    folder.Write("a.gguf", writer.Bytes());
    return ReadError(folder.path() / "a.gguf", "gguf-llama");
  };
  EXPECT_THAT(error(AdapterWriter("control_vector")), HasSubstr("vector(FILE)"));
  EXPECT_THAT(error(AdapterWriter("lora")), HasSubstr("it has no tensors"));
  test::GgufWriter negative = AdapterWriter("lora");
  negative.Float32("adapter.lora.alpha", -1);
  EXPECT_THAT(error(negative), HasSubstr("adapter.lora.alpha"));
}

// A truncated file is an error, whatever its length, and so is one with changed bytes if its shapes
// or names no longer fit.
TEST(AdapterFile, SurvivesTruncationAndChangedBytes) {
  const auto gguf = Source("gguf-llama-q8_0");
  const auto llama = Source("llama");
  const test::TemporaryFolder folder;
  folder.Write("adapter_config.json", Bytes(adapters_folder + "llama/adapter_config.json"));
  const std::string peft = Bytes(adapters_folder + "llama/adapter_model.safetensors");
  const std::string lora = Bytes(gguf_adapter_file);
  const auto read = [&](const std::string& name, const std::string& bytes) {
    folder.Write(name, bytes);
    try {
      if (name == "a.gguf") {
        ReadAdapterFile(folder.path() / name, *gguf);
      } else {
        ReadAdapterFile(folder.path(), *llama);
      }
    } catch (const Error&) {
      return false;
    }
    return true;
  };
  EXPECT_TRUE(read("a.gguf", lora));
  EXPECT_TRUE(read("adapter_model.safetensors", peft));
  for (size_t size = 0; size < lora.size(); size += 1 + size / 8)
    EXPECT_FALSE(read("a.gguf", lora.substr(0, size))) << size;
  for (size_t size = 0; size < peft.size(); size += 1 + size / 8)
    EXPECT_FALSE(read("adapter_model.safetensors", peft.substr(0, size))) << size;
  for (size_t at = 0; at < 1500; at += 3) {
    std::string changed = lora;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 7));
    read("a.gguf", changed);  // any Error or none
    changed = peft;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 7));
    read("adapter_model.safetensors", changed);
  }
}

TEST(AdapterFile, NotesTheSettingThatItWasTunedWith) {
  ChangedAdapter adapter;
  EXPECT_EQ(adapter.Error(), "");
  const std::string text =
      test::TinyModelPath("llama") + " adapter=" + adapter.folder.path().string();
  EXPECT_TRUE(OpenModel(text)->config().notes.empty());
  adapter.folder.Write(
      "midscope_recipe.json",
      R"({"method": "cream", "interpolation": "yarn", "factor": 4, "context": 2048})");
  EXPECT_THAT(OpenModel(text)->config().notes.back(),
              AllOf(HasSubstr("method cream, interpolation yarn, factor 4, context 2048"),
                    HasSubstr("--with")));
}

TEST(AdapterFile, IsAPartOfTheModelsIdentity) {
  const std::string plain = test::TinyModelPath("llama");
  const std::string adapted = plain + " adapter=" + adapters_folder + "llama";
  const auto hash = [](const std::string& text) { return OpenModel(text)->Hash(); };
  EXPECT_EQ(OpenModel(adapted + ":0.5")->path(), adapted + ":0.5");
  EXPECT_NE(hash(plain), hash(adapted));
  EXPECT_NE(hash(adapted), hash(adapted + ":0.5"));
  EXPECT_EQ(hash(adapted), hash(adapted + ":1"));
  const auto source = OpenModel(adapted);
  EXPECT_EQ(source->Find("0.query")->format.type, kernels::BlockType::kF32);
  EXPECT_EQ(OpenModel(adapted + ":0")->Find("0.query")->format.type,
            OpenModel(plain)->Find("0.query")->format.type);
}

// Names of modules need no file, so every family has them, in both formats where it has GGUF files.
TEST(AdapterModules, EveryFamilyHasModules) {
  for (const std::string& name : test::TinyModelNames()) {
    const auto source = Source(name);
    EXPECT_GE(AdapterModules(source->config(), ModuleNames::kPeft).size(), 2) << name;
    const bool has_gguf = !GgufArchitectureOf(source->config()).empty();
    EXPECT_EQ(AdapterModules(source->config(), ModuleNames::kGguf).empty(), !has_gguf) << name;
  }
}

}  // namespace
}  // namespace midscope
