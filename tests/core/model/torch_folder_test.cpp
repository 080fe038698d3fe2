// SPDX-License-Identifier: MIT
// Folders whose weights are in pytorch_model.bin: they give the same models as safetensors. Also
// the additional content of old checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/folder_model.h"
#include "core/model/model_shapes.h"
#include "core/model/model_source.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"
#include "tests/core/support/torch_writer.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using test::SafetensorsParts;
using test::TemporaryFolder;
using test::TinyModelFolder;
using ::testing::HasSubstr;

// A tiny model with pytorch_model.bin in place of model.safetensors.
class TorchFolder {
 public:
  explicit TorchFolder(const std::string& name) : folder_(TinyModelFolder(name)) {
    parts = test::ReadSafetensors(folder_.Read("model.safetensors"));
    std::filesystem::remove(folder_.path() / "model.safetensors");
  }
  std::unique_ptr<ModelSource> Open() const {
    folder_.Write("pytorch_model.bin", test::WriteTorch(parts, tied));
    return OpenModel(folder_.path().string());
  }
  const std::filesystem::path& path() const { return folder_.path(); }

  SafetensorsParts parts;
  bool tied = false;  // whether equal tensors share a storage

 private:
  TemporaryFolder folder_;
};

void ExpectSameTensor(const ModelSource& actual, const ModelSource& expected,
                      const std::string& name) {
  const TensorRef* a = actual.Find(name);
  const TensorRef* b = expected.Find(name);
  ASSERT_EQ(a == nullptr, b == nullptr) << name;
  if (a == nullptr) return;
  ASSERT_EQ(a->rows, b->rows) << name;
  ASSERT_EQ(a->row_bytes, b->row_bytes) << name;
  for (int64_t row = 0; row < a->rows; ++row) {
    ASSERT_EQ(std::memcmp(a->Row(row), b->Row(row), static_cast<size_t>(a->row_bytes)), 0)
        << name << " row " << row;
  }
}

TEST(TorchFolder, EveryTinyModelIsTheSameAsWithSafetensors) {
  int models = 0;
  for (const std::string& name : test::TinyModelNames()) {
    const std::filesystem::path folder = TinyModelFolder(name);
    if (!std::filesystem::exists(folder / "model.safetensors")) continue;
    const TorchFolder torch(name);
    bool floats = true;
    for (const auto& [key, part] : torch.parts)
      floats = floats && (part.dtype == "F32" || part.dtype == "F16" || part.dtype == "BF16");
    if (!floats) continue;
    ++models;
    const auto expected = OpenModel(folder.string());
    const auto actual = torch.Open();
    EXPECT_EQ(actual->config().parameters, expected->config().parameters) << name;
    EXPECT_EQ(actual->config().notes, expected->config().notes) << name;
    for (const NeededTensor& tensor : NeededTensors(expected->config())) {
      ExpectSameTensor(*actual, *expected, tensor.name());
      ExpectSameTensor(*actual, *expected, tensor.name() + ".bias");
    }
  }
  EXPECT_GT(models, 20);
}

// Files of transformers before 4.32.
TEST(TorchFolder, FrequenciesAndMasksOfOldCheckpointsArePassedOver) {
  TorchFolder llama("llama");
  const int64_t parameters = OpenModel(TinyModelFolder("llama"))->config().parameters;
  for (const char* layer : {"0", "1"}) {
    llama.parts["model.layers." + std::string(layer) + ".self_attn.rotary_emb.inv_freq"] = {
        "F32", {4}, std::string(16, '\1')};
  }
  EXPECT_EQ(llama.Open()->config().parameters, parameters);
  // transformers passes over them in every family.
  TorchFolder olmo("olmo");
  olmo.parts["model.layers.0.self_attn.rotary_emb.inv_freq"] = {"F32", {1}, "1234"};
  olmo.Open();
  TorchFolder gpt2("gpt2");
  gpt2.parts["transformer.h.0.attn.bias"] = {"F32", {1, 1, 2, 2}, std::string(16, '\1')};
  gpt2.parts["transformer.h.0.attn.masked_bias"] = {"F32", {}, "1234"};
  gpt2.Open();
  gpt2.parts["transformer.h.0.attn.unknown"] = {"F32", {}, "1234"};
  EXPECT_THAT(ErrorMessage([&] { gpt2.Open(); }), HasSubstr("attn.unknown"));
}

TEST(TorchFolder, TiedWeightsOfOneStorageAreCountedOnce) {
  TorchFolder llama("llama-other-head");
  llama.parts["lm_head.weight"] = llama.parts.at("model.embed_tokens.weight");
  const int64_t twice = llama.Open()->config().parameters;
  llama.tied = true;
  const auto once = llama.Open();
  EXPECT_TRUE(once->config().tied_embeddings);
  EXPECT_LT(once->config().parameters, twice);
}

TEST(TorchFolder, AFileByItsNameIsRefusedWithItsFolder) {
  const TorchFolder llama("llama");
  llama.Open();
  EXPECT_THAT(ErrorMessage([&] { OpenModel((llama.path() / "pytorch_model.bin").string()); }),
              HasSubstr("Name its folder: " + llama.path().string()));
}

}  // namespace
}  // namespace midscope
