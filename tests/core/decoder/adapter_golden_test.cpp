// SPDX-License-Identifier: MIT
// Models with adapters against PEFT (adapter_golden.json, made by make_adapter_golden.py).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/decoder/decoder.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/golden_runs.h"

namespace midscope {
namespace {

const std::string adapters_folder = MIDSCOPE_TESTS "/core/golden/adapters/";

// Returns logits [token, vocabulary] of the model's prompt.
std::vector<float> LogitsOf(const std::string& model, const std::string& adapter,
                            const DecoderOptions& options = {}) {
  const std::string text =
      test::TinyModelPath(model) + (adapter.empty() ? "" : " adapter=" + adapters_folder + adapter);
  const std::vector<int32_t> ids = test::PromptIds(model);
  RunRequest request;
  request.ids = ids;
  request.first_logit_row = 0;
  return Decoder::Open(text, options)->RunOne(request).logits;
}

void ExpectGolden(const std::vector<float>& logits, const nlohmann::json& item,
                  const nlohmann::json& file) {
  const size_t rows = test::PromptIds(item["model"]).size();
  const size_t vocabulary = logits.size() / rows;
  const double tolerance = test::kGoldenLogitTolerance * test::Largest(logits);
  for (size_t r = 0; r < file["rows"].size(); ++r) {
    const size_t row = file["rows"][r];
    for (size_t i = 0; i < item["logits"][r].size(); ++i) {
      const double expected = item["logits"][r][i];
      const size_t at = row * vocabulary + i * file["logit_step"].get<size_t>();
      ASSERT_NEAR(logits.at(at), expected, tolerance) << item["model"] << " row " << row;
    }
  }
}

// Adapters in both formats, of models in both formats, with quantised weights, fused projections
// and rows in another order.
TEST(AdapterGolden, LogitsEqualPefts) {
  const auto file = test::ReadJson(MIDSCOPE_TESTS "/core/golden/adapter_golden.json");
  ASSERT_EQ(file["cases"].size(), 7);
  for (const auto& item : file["cases"]) {
    const std::string model = item["model"];
    const std::string scale = ":" + item["scale"].dump();
    for (const WeightStorage weights : {WeightStorage::kStored, WeightStorage::kExpanded}) {
      const DecoderOptions options{.threads = 1, .weights = weights};
      ExpectGolden(LogitsOf(model, model + scale, options), item, file);
      if (model == "gguf-llama-q8_0" || model == "gpt2")
        ExpectGolden(LogitsOf(model, std::string(model).append(".gguf").append(scale), options),
                     item, file);
    }
  }
}

TEST(AdapterGolden, ScaleZeroIsTheModelBitForBit) {
  for (const std::string model : {"llama", "gguf-llama-q8_0"}) {
    const std::vector<float> plain = LogitsOf(model, "");
    EXPECT_EQ(LogitsOf(model, model + ":0"), plain);
    EXPECT_GT(test::Difference(LogitsOf(model, model), plain), 0.01);
  }
}

TEST(AdapterGolden, RandomWeightsTakeAnAdapter) {
  const std::vector<int32_t> ids = test::PromptIds("llama");
  RunRequest request;
  request.ids = ids;
  const std::string text = test::TinyModelPath("llama") + "@init:3";
  const auto plain = Decoder::Open(text, {})->RunOne(request).logits;
  const auto adapted =
      Decoder::Open(text + " adapter=" + adapters_folder + "llama", {})->RunOne(request).logits;
  EXPECT_GT(test::Difference(plain, adapted), 1e-3);
}

}  // namespace
}  // namespace midscope
