// SPDX-License-Identifier: MIT
#include "core/model/changed_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/model/model_shapes.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

std::unique_ptr<ModelSource> Random(const std::string& name, const std::string& init = "@init") {
  return OpenModel(test::TinyModelPath(name) + init);
}

std::vector<float> WeightValues(const ModelSource& source, const std::string& name) {
  const TensorRef* tensor = source.Find(name);
  EXPECT_NE(tensor, nullptr) << name;
  EXPECT_EQ(tensor->format.type, kernels::BlockType::kF32);
  const auto* values = reinterpret_cast<const float*>(tensor->data);
  return {values, values + tensor->rows * tensor->columns};
}

// The numbers were computed in Python from the same definition; they must not depend on the machine
// or on the number of threads.
constexpr float kQueryFirst = 0.0010380807798355818f;
constexpr float kQuerySecond = -0.033532023429870605f;
constexpr float kQueryLast = 0.0020973975770175457f;

TEST(RandomSource, NumbersAreEqualOnEveryMachine) {
  const auto source = Random("llama", "@init:7");
  const std::vector<float> query = WeightValues(*source, "1.query");
  EXPECT_EQ(query[0], kQueryFirst);
  EXPECT_EQ(query[1], kQuerySecond);
  EXPECT_EQ(query.back(), kQueryLast);
  EXPECT_EQ(WeightValues(*Random("gguf-llama", "@init:7"), "1.query")[0], query[0]);
}

TEST(RandomSource, EveryTensorHasItsOwnStream) {
  const auto source = Random("llama");
  const std::vector<float> query = WeightValues(*source, "0.query");
  EXPECT_NE(query[0], WeightValues(*source, "1.query")[0]);
  EXPECT_NE(query[0], WeightValues(*source, "0.key")[0]);
  EXPECT_NE(query[0], WeightValues(*Random("llama", "@init:2"), "0.query")[0]);
  EXPECT_EQ(query, WeightValues(*Random("llama", "@init:1"), "0.query"));
  source->DontNeed(*source->Find("0.query"));
  EXPECT_EQ(query, WeightValues(*source, "0.query"));
}

TEST(RandomSource, MatricesAreNormalAndNormsAreOne) {
  const auto source = WithRandomWeights(OpenModel(test::TinyModelPath("qwen2")), 5, 0.03);
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  double count = 0;
  for (const NeededTensor& tensor : NeededTensors(source->config())) {
    if (tensor.shape.size() != 2) continue;
    for (const float value : WeightValues(*source, tensor.name())) {
      const double z = value / 0.03;
      sum += z;
      squares += z * z;
      fourth += z * z * z * z;
      ++count;
    }
  }
  ASSERT_GT(count, 10000);
  EXPECT_NEAR(sum / count, 0, 4 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 4 * std::sqrt(2 / count));
  EXPECT_NEAR(fourth / count, 3, 4 * std::sqrt(96 / count));
  EXPECT_THAT(WeightValues(*source, "0.attention_norm"), ::testing::Each(1.0f));
  EXPECT_THAT(WeightValues(*source, "0.query.bias"), ::testing::Each(0.0f));
  // Gemma's norms in a folder are weights minus one.
  EXPECT_THAT(WeightValues(*Random("gemma2"), "final_norm"), ::testing::Each(0.0f));
}

TEST(RandomSource, HasANameANoteAndAHash) {
  const auto plain = OpenModel(test::TinyModelPath("llama"));
  const auto source = Random("llama", "@init:7");
  EXPECT_EQ(source->path(), plain->path() + "@init:7");
  EXPECT_NE(source->Hash(), plain->Hash());
  EXPECT_NE(source->Hash(), Random("llama")->Hash());
  EXPECT_EQ(source->Hash(), Random("llama", "@init:7")->Hash());
  EXPECT_THAT(source->config().notes.back(), ::testing::HasSubstr("seed 7"));
  EXPECT_EQ(source->config().quantisation, "F32");
}

// Every family runs with random weights: each tensor that the decoder needs can be computed.
TEST(RandomSource, EveryFamilyHasAllTensors) {
  for (const std::string& name : test::TinyModelNames()) {
    const auto source = Random(name);
    for (const NeededTensor& tensor : NeededTensors(source->config())) {
      const TensorRef* found = source->Find(tensor.name());
      ASSERT_NE(found, nullptr) << name << " " << tensor.name();
    }
  }
}

}  // namespace
}  // namespace midscope
