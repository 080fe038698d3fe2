// SPDX-License-Identifier: MIT
// Gradients of every weight of the tiny models under given position ids, compared with those that
// transformers computes (make/make_gradients_golden.py), in float32. Tolerances: the loss within
// 1e-6, gradients within 1e-4 of their norm, or of 1e-5 of the largest norm of the model where a
// gradient is rounding alone (that of keys' biases).

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/tuning/differentiable_model.h"
#include "core/tuning/tuning_plans.h"
#include "tests/core/support/file_sums.h"
#include "tests/core/support/golden_runs.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using Json = nlohmann::json;

constexpr double kGoldenLossTolerance = 1e-6;
constexpr double kGradientTolerance = 1e-4;
constexpr double kNoise = 1e-5;
// stablelm's norms of heads are one vector of the decoder, and one tensor for each head in the
// file. Returns false for other tensors.
bool ExpectNormOfHeads(const std::string& file_name, double norm, const Json& expected,
                       std::set<std::string>* compared) {
  const size_t head_at = file_name.find(".norms.N.");
  if (head_at == std::string::npos) return false;
  double squares = 0;
  for (int head = 0;; ++head) {
    std::string of_head = file_name;
    of_head.replace(head_at, 9, ".norms." + std::to_string(head) + ".");
    if (!expected.contains(of_head)) break;
    squares += std::pow(expected[of_head][1].get<double>(), 2);
    compared->insert(of_head);
  }
  EXPECT_NEAR(norm, std::sqrt(squares), kGradientTolerance * norm) << file_name;
  return true;
}

void ExpectGradients(const Json& item, const std::vector<double>& position_ids) {
  const std::string name = item["model"];
  const std::vector<int32_t> ids = test::PromptIds(name);
  const auto source = OpenModel(test::TinyModelPath(name));
  const DifferentiableModel model(*source, {});
  const bool rotates = model.config().positions == PositionKind::kRotary;
  const std::vector<double> seen = rotates ? position_ids : std::vector<double>();
  const at::Tensor loss =
      model.NextTokenLoss(ids, TuningPlans({}, seen, model.config(), std::ssize(ids)));
  EXPECT_NEAR(loss.item<double>(), item["loss"].get<double>(),
              kGoldenLossTolerance * item["loss"].get<double>())
      << name;
  loss.backward();
  NamedTensors gradients;
  for (const auto& [weight_name, weight] : model.weights()) {
    if (weight.grad().defined()) gradients[weight_name] = weight.grad();
  }
  const Json& expected = item["gradients"];
  double largest = 0;
  for (const Json& tensor : expected) largest = std::max(largest, tensor[1].get<double>());
  std::set<std::string> compared;
  for (const auto& [file_name, sums] : test::SumsOfFile(*source, gradients, expected)) {
    const double norm = std::sqrt(sums.squares);
    if (ExpectNormOfHeads(file_name, norm, expected, &compared)) continue;
    if (!expected.contains(file_name)) {
      EXPECT_EQ(norm, 0) << name << " " << file_name;
      continue;
    }
    compared.insert(file_name);
    const double tolerance =
        kGradientTolerance * std::max(expected[file_name][1].get<double>(), kNoise * largest);
    EXPECT_NEAR(norm, expected[file_name][1].get<double>(), tolerance) << name << " " << file_name;
    EXPECT_NEAR(sums.signed_sum, expected[file_name][2].get<double>(), tolerance)
        << name << " " << file_name;
  }
  EXPECT_EQ(compared.size(), expected.size()) << name;
}

TEST(GradientsGolden, AreThoseOfTransformers) {
  const Json golden = test::ReadJson(MIDSCOPE_TESTS "/core/golden/gradients_golden.json");
  const auto position_ids = golden["position_ids"].get<std::vector<double>>();
  for (const Json& item : golden["cases"]) ExpectGradients(item, position_ids);
}

// A tiny model that a family adds must be in the file.
TEST(GradientsGolden, CoverEveryFolderWithRotaryPositions) {
  const Json golden = test::ReadJson(MIDSCOPE_TESTS "/core/golden/gradients_golden.json");
  // transformers does not open these as they are, or not for text.
  std::set<std::string> covered = {"internlm", "internlm2", "gpt-oss-mxfp4", "llama4-pictures"};
  for (const Json& item : golden["cases"]) covered.insert(item["model"].get<std::string>());
  for (const std::string& name : test::TinyModelNames()) {
    if (name.starts_with("gguf-")) continue;
    const PositionKind positions = OpenModel(test::TinyModelPath(name))->config().positions;
    const bool rotary = positions == PositionKind::kRotary || positions == PositionKind::kNone;
    EXPECT_EQ(covered.contains(name), rotary) << name;
  }
}

}  // namespace
}  // namespace midscope
