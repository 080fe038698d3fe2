// SPDX-License-Identifier: MIT
// Ten steps of AdamW, of all weights and of a LoRA, compared with those of PyTorch and PEFT
// (make/make_tuning_golden.py). Tolerances: losses within 1e-5, norms of gradients within 1e-4,
// changes of tensors within 1e-3 of the norm of the change: Adam divides small gradients by their
// own size, which enlarges rounding.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/base/memory_map.h"
#include "core/formats/safetensors.h"
#include "core/tuning/adapter_folder.h"
#include "core/tuning/differentiable_model.h"
#include "core/tuning/tuning_optimizer.h"
#include "core/tuning/tuning_plans.h"
#include "tests/core/support/file_sums.h"
#include "tests/core/support/golden_runs.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using Json = nlohmann::json;
using test::FileSums;

constexpr double kStepLossTolerance = 1e-5;
constexpr double kStepNormTolerance = 1e-4;
constexpr double kChangeTolerance = 1e-3;

const Json& Golden() {
  static const Json golden = test::ReadJson(MIDSCOPE_TESTS "/core/golden/tuning_golden.json");
  return golden;
}

// Runs the steps of the case and compares losses and norms.
void RunSteps(const Json& item, const DifferentiableModel& model) {
  OptimizerSettings settings;
  settings.rate = Golden()["rate"];
  settings.steps = Golden()["steps"];
  settings.warm_up = Golden()["warm_up"];
  settings.weight_decay = Golden()["weight_decay"];
  settings.largest_norm = Golden()["largest_norm"];
  TuningOptimizer optimizer(model.Parameters(), settings);
  std::vector<int32_t> ids = test::PromptIds(item["model"]);
  const auto plans = TuningPlans({}, Golden()["position_ids"].get<std::vector<double>>(),
                                 model.config(), std::ssize(ids));
  for (int64_t step = 0; step < settings.steps; ++step) {
    const std::string what = item["model"].get<std::string>() + " step " + std::to_string(step);
    const at::Tensor loss = model.NextTokenLoss(ids, plans);
    loss.backward();
    const double norm = optimizer.Step();
    const auto expected_loss = item["losses"][static_cast<size_t>(step)].get<double>();
    const auto expected_norm = item["norms"][static_cast<size_t>(step)].get<double>();
    EXPECT_NEAR(loss.item<double>(), expected_loss, kStepLossTolerance * expected_loss) << what;
    EXPECT_NEAR(norm, expected_norm, kStepNormTolerance * expected_norm) << what;
    std::rotate(ids.begin(), ids.begin() + 1, ids.end());
  }
  EXPECT_EQ(optimizer.steps_done(), settings.steps);
}

void ExpectSums(const FileSums& sums, const Json& expected, const std::string& what) {
  const auto norm = expected[1].get<double>();
  EXPECT_NEAR(std::sqrt(sums.squares), norm, kChangeTolerance * norm) << what;
  EXPECT_NEAR(sums.signed_sum, expected[2].get<double>(), kChangeTolerance * norm) << what;
}

// The sums of the difference of two safetensors files with the same tensors, all of float32.
std::map<std::string, FileSums> SumsOfChange(const std::string& before, const std::string& after) {
  const MemoryMap old_file(before);
  const MemoryMap new_file(after);
  const SafetensorsTensors old_tensors = ParseSafetensorsHeader(old_file.bytes(), before);
  std::map<std::string, FileSums> sums;
  for (const auto& [name, tensor] : ParseSafetensorsHeader(new_file.bytes(), after)) {
    for (int64_t i = 0; i < tensor.bytes / 4; ++i) {
      float old_value = 0;
      float new_value = 0;
      std::memcpy(&old_value, old_tensors.at(name).data + 4 * i, 4);
      std::memcpy(&new_value, tensor.data + 4 * i, 4);
      sums[name].Add(i, double{new_value} - old_value);
    }
  }
  return sums;
}

TEST(TuningGolden, AllWeightsChangeAsInPyTorch) {
  for (const Json& item : Golden()["cases"]) {
    if (item.contains("adapter")) continue;
    const std::string name = item["model"];
    const auto source = OpenModel(test::TinyModelPath(name));
    const DifferentiableModel model(*source, {});
    NamedTensors changes;
    for (const auto& [weight_name, weight] : model.weights())
      changes[weight_name] = weight.detach().clone();
    RunSteps(item, model);
    for (auto& [weight_name, change] : changes)
      change = model.weights().at(weight_name).detach() - change;
    const auto sums = test::SumsOfFile(*source, changes, item["changes"]);
    EXPECT_EQ(sums.size(), item["changes"].size());
    for (const auto& [file_name, sum] : sums)
      ExpectSums(sum, item["changes"][file_name], std::string(name).append(" ").append(file_name));
  }
}

TEST(TuningGolden, AdaptersChangeAsInPeft) {
  for (const Json& item : Golden()["cases"]) {
    if (!item.contains("adapter")) continue;
    const std::string name = item["model"];
    const std::string folder = MIDSCOPE_TESTS "/core/golden/adapters/" + name;
    const auto source = OpenModel(test::TinyModelPath(name));
    DifferentiableModel model(*source, {.checkpoints = true});
    model.SetAdapter(ReadAdapter(folder, *source));
    RunSteps(item, model);
    for (const auto& [weight_name, weight] : model.weights())
      EXPECT_FALSE(weight.grad().defined()) << name << " " << weight_name;
    const test::TemporaryFolder written;
    WriteAdapter(model.adapter(), *source, written.path());
    const auto sums = SumsOfChange(folder + "/adapter_model.safetensors",
                                   (written.path() / "adapter_model.safetensors").string());
    EXPECT_EQ(sums.size(), item["changes"].size());
    for (const auto& [tensor, sum] : sums)
      ExpectSums(sum, item["changes"][tensor], std::string(name).append(" ").append(tensor));
  }
}

TEST(TuningOptimizer, RatesRiseAndFallLinearly) {
  const at::Tensor parameter = at::ones({1}).set_requires_grad(true);
  const TuningOptimizer optimizer({parameter}, {.rate = 4, .steps = 10, .warm_up = 2});
  EXPECT_EQ(optimizer.RateOf(0), 0);
  EXPECT_EQ(optimizer.RateOf(1), 2);
  EXPECT_EQ(optimizer.RateOf(2), 4);
  EXPECT_EQ(optimizer.RateOf(6), 2);
  EXPECT_EQ(optimizer.RateOf(10), 0);
  EXPECT_EQ(optimizer.RateOf(11), 0);
}

TEST(TuningOptimizer, RefusesGradientsThatAreNotFinite) {
  const at::Tensor parameter = at::ones({2}).set_requires_grad(true);
  TuningOptimizer optimizer({parameter}, {.rate = 1, .steps = 2});
  (parameter * std::nan("")).sum().backward();
  EXPECT_THROW(optimizer.Step(), Error);
  EXPECT_TRUE(at::equal(parameter.detach(), at::ones({2})));
  EXPECT_EQ(optimizer.steps_done(), 0);
}

}  // namespace
}  // namespace midscope
