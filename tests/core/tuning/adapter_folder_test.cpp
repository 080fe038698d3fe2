// SPDX-License-Identifier: MIT
// Adapters in PEFT's format; golden/adapters were written by PEFT 0.21.

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/tuning/adapter_folder.h"
#include "core/tuning/differentiable_model.h"
#include "core/tuning/tuning_plans.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"
#include "tests/core/support/safetensors_parts.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string adapters_folder = MIDSCOPE_TESTS "/core/golden/adapters/";

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

void ExpectEqualTensors(const std::string& made, const std::string& expected) {
  const auto parts = test::ReadSafetensors(Bytes(made));
  const auto expected_parts = test::ReadSafetensors(Bytes(expected));
  EXPECT_EQ(parts.size(), expected_parts.size());
  for (const auto& [name, part] : expected_parts) {
    ASSERT_TRUE(parts.contains(name)) << name;
    EXPECT_EQ(parts.at(name).dtype, part.dtype) << name;
    EXPECT_EQ(parts.at(name).shape, part.shape) << name;
    EXPECT_EQ(parts.at(name).bytes, part.bytes) << name;
  }
}

std::unique_ptr<ModelSource> Source(const std::string& name) {
  return OpenModel(test::TinyModelPath(name));
}

at::Tensor LogitsOf(const std::vector<int32_t>& ids, const DifferentiableModel& model) {
  return model.Logits(ids, TuningPlans({}, {}, model.config(), std::ssize(ids))).detach();
}

at::Tensor LogitsOf(const std::string& name, const DifferentiableModel& model) {
  return LogitsOf(test::PromptIds(name), model);
}

// glm4's rows of query and key are in another order in the file.
TEST(AdapterFolder, WritesWhatPeftWrote) {
  for (const std::string name : {"llama", "glm4"}) {
    const auto source = Source(name);
    const LoraAdapter adapter = ReadAdapter(adapters_folder + name, *source);
    EXPECT_EQ(adapter.root_scale, name == "glm4");
    const test::TemporaryFolder folder;
    WriteAdapter(adapter, *source, folder.path() / "made");
    const std::string made = (folder.path() / "made").string();
    ExpectEqualTensors(made + "/adapter_model.safetensors",
                       adapters_folder + name + "/adapter_model.safetensors");
    const auto written = test::ReadJson(made + "/adapter_config.json");
    const auto expected = test::ReadJson(adapters_folder + name + "/adapter_config.json");
    for (const auto& [key, value] : written.items()) {
      if (key == "base_model_name_or_path") continue;
      EXPECT_EQ(value, expected.at(key)) << name << " " << key;
    }
  }
}

// In a GGUF file the tensors have other names, and rows of query and key another order.
TEST(AdapterFolder, FitsAGgufFile) {
  const auto source = Source("gguf-llama");
  const LoraAdapter adapter =
      MakeLora({.rank = 2, .projections = {"query", "key", "down"}}, source->config());
  const test::TemporaryFolder folder;
  WriteAdapter(adapter, *source, folder.path());
  const auto parts =
      test::ReadSafetensors(Bytes((folder.path() / "adapter_model.safetensors").string()));
  EXPECT_TRUE(parts.contains("base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight"));
  EXPECT_TRUE(parts.contains("base_model.model.model.layers.0.mlp.down_proj.lora_B.weight"));
  const LoraAdapter again = ReadAdapter(folder.path(), *source);
  ASSERT_EQ(again.tensors.size(), adapter.tensors.size());
  for (const auto& [name, tensor] : adapter.tensors)
    EXPECT_TRUE(at::equal(again.tensors.at(name), tensor)) << name;
}

TEST(AdapterFolder, ANewAdapterChangesNothing) {
  const auto source = Source("llama");
  DifferentiableModel model(*source, {});
  const at::Tensor before = LogitsOf("llama", model);
  model.SetAdapter(MakeLora({.rank = 3}, source->config()));
  EXPECT_TRUE(at::equal(LogitsOf("llama", model), before));
  EXPECT_EQ(model.Parameters().size(), 2 * 2 * 2);
  model.SetAdapter(ReadAdapter(adapters_folder + "llama", *source));
  EXPECT_GT((LogitsOf("llama", model) - before).abs().max().item<double>(), 0.1);
}

TEST(AdapterFolder, ModulesOfSeveralMatricesAreRead) {
  const auto phi3 = Source("phi3");
  const LoraAdapter adapter = ReadAdapter(adapters_folder + "phi3", *phi3);
  EXPECT_TRUE(
      at::equal(adapter.tensors.at("0.query.lora_a"), adapter.tensors.at("0.value.lora_a")));
  const auto gguf = Source("gguf-llama-q8_0");
  EXPECT_THAT(ErrorMessage([&] { ReadAdapter(adapters_folder + "gguf-llama-q8_0.gguf", *gguf); }),
              HasSubstr("PEFT's format"));
}

// The tuner's last forward pass, with dequantised weights and a separate product, equals the run
// of the decoder on the same file with the written adapter.
void ExpectEqualRun(const std::string& model_path, const std::string& adapter,
                    const DifferentiableModel& model, const std::vector<int32_t>& ids) {
  const at::Tensor tuned = LogitsOf(ids, model);
  RunRequest request;
  request.ids = ids;
  request.first_logit_row = 0;
  std::string text = model_path;
  text.append(" adapter=").append(adapter);
  const auto logits = Decoder::Open(text, {})->RunOne(request).logits;
  const at::Tensor run = at::tensor(logits).reshape(tuned.sizes());
  const double scale = tuned.abs().max().item<double>();
  EXPECT_LT((run - tuned).abs().max().item<double>(), 1e-5 * scale) << model_path;
}

TEST(AdapterFolder, TheDecoderRunsWhatWasTuned) {
  for (const std::string name : {"gguf-llama-q8_0", "llama", "glm4"}) {
    const auto source = Source(name);
    DifferentiableModel model(*source, {});
    model.SetAdapter(ReadAdapter(adapters_folder + name, *source));
    ExpectEqualRun(test::TinyModelPath(name), adapters_folder + name, model, test::PromptIds(name));
  }
}

// Fused q, k and v, in order (phi3) and by head (gpt-neox), gate and up (glm4).
TEST(AdapterFolder, ModulesOfSeveralMatricesAreWritten) {
  for (const std::string name : {"phi3", "gpt-neox", "glm4"}) {
    const auto source = Source(name);
    DifferentiableModel model(*source, {});
    LoraAdapter adapter = MakeLora({.rank = 2}, source->config());
    at::manual_seed(1);
    for (auto& [key, tensor] : adapter.tensors) tensor = 0.2 * at::randn_like(tensor);
    model.SetAdapter(adapter);
    const test::TemporaryFolder folder;
    WriteAdapter(adapter, *source, folder.path());
    ExpectEqualRun(test::TinyModelPath(name), folder.path().string(), model, test::PromptIds(name));
  }
}

TEST(AdapterFolder, MatricesWithoutAModuleAreRefused) {
  const auto source = Source("gpt-oss");
  LoraAdapter adapter;
  adapter.rank = 1;
  adapter.tensors["0.expert.0.down.lora_a"] = at::zeros({1, 4});
  EXPECT_THAT(ErrorMessage([&] { CheckAdapterModules(adapter, *source); }),
              AllOf(HasSubstr("0.expert.0.down"), HasSubstr("gpt_oss")));
}

TEST(AdapterFolder, TheDecoderRunsWhatWasTunedOfTheEmbeddedModel) {
  const auto source = OpenModel("embedded");
  DifferentiableModel model(*source, {});
  LoraAdapter adapter = MakeLora({.rank = 16}, source->config());
  at::manual_seed(1);
  for (auto& [name, tensor] : adapter.tensors) tensor = 0.02 * at::randn_like(tensor);
  std::vector<int32_t> ids(60);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>(1000 + 37 * i);
  const at::Tensor before = LogitsOf(ids, model);
  model.SetAdapter(adapter);
  const test::TemporaryFolder folder;
  WriteAdapter(model.adapter(), *source, folder.path());
  const at::Tensor after = LogitsOf(ids, model);
  EXPECT_GT((after - before).abs().max().item<double>(), 0.1);
  ExpectEqualRun("embedded", folder.path().string(), model, ids);
}

TEST(Lora, RefusesProjectionsThatTheModelLacks) {
  const auto source = Source("phi");
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage,
                           [&] { MakeLora({.projections = {"gate"}}, source->config()); }),
              AllOf(HasSubstr("gate"), HasSubstr("attention_out, down, key, query, up, value")));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { MakeLora({.rank = 0}, source->config()); }),
              HasSubstr("at least 1"));
}

}  // namespace
}  // namespace midscope
