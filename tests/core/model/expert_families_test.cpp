// SPDX-License-Identifier: MIT
// Families with experts: values read from keys of config.json and from metadata, their defaults,
// and rejected values. The numbers of complete models are tested in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/model/folder_model.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/safetensors_parts.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::ErrorWith;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using Json = nlohmann::json;
using Layers = std::vector<bool>;

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
  EXPECT_EQ(config.experts.layers, Layers(24, true));
  EXPECT_TRUE(config.experts.normalised);
  EXPECT_FALSE(config.tied_embeddings);
  const Json text = {{"num_hidden_layers", 3}, {"decoder_sparse_step", 3}, {"num_experts", 8}};
  EXPECT_EQ(ConfigWith("qwen3-vl-moe", {{"text_config", text}}).experts.layers,
            (Layers{false, false, true}));
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

}  // namespace
}  // namespace midscope
