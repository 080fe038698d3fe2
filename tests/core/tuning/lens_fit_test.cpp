// SPDX-License-Identifier: MIT
// Fitted lenses equal the formula as PyTorch computes it from whole Jacobians of transformers'
// models (make/make_lens_golden.py), within 1e-5 of the matrix' norm, and finite differences of the
// decoder within 1e-3.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "core/decoder/hooks.h"
#include "core/tuning/lens_fit.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/file_sums.h"
#include "tests/core/support/golden_runs.h"
#include "tests/core/support/tiny_models.h"
#include "tests/paths.h"

namespace midscope {
namespace {

constexpr double kNormTolerance = 1e-5;
constexpr double kHalfTolerance = 1e-3;  // of float16

JacobianLens FittedLens(const std::string& name, const std::vector<std::vector<int32_t>>& prompts) {
  const LensFit fit(*OpenModel(test::TinyModelPath(name)), {}, {});
  JacobianLens lens;
  for (const std::vector<int32_t>& ids : prompts)
    fit.Add(
        ids, [](int64_t) {}, &lens);
  return lens;
}

TEST(LensFit, IsTheFormulaOfTransformersModels) {
  for (const auto& item : test::ReadJson(MIDSCOPE_TESTS "/core/golden/lens_golden.json")["cases"]) {
    const std::string name = item["model"];
    const JacobianLens lens = FittedLens(name, {test::PromptIds(name)});
    ASSERT_EQ(lens.matrices.size(), item["matrices"].size()) << name;
    for (const auto& [layer, matrix] : lens.matrices) {
      test::FileSums sums;
      for (size_t i = 0; i < matrix.size(); ++i) sums.Add(static_cast<int64_t>(i), matrix[i]);
      const auto& expected = item["matrices"][static_cast<size_t>(layer)];
      const double tolerance = kNormTolerance * expected[0].get<double>();
      EXPECT_NEAR(std::sqrt(sums.squares), expected[0].get<double>(), tolerance) << name << layer;
      EXPECT_NEAR(sums.signed_sum, expected[1].get<double>(), 10 * tolerance) << name << layer;
    }
  }
}

// Element by element: the signed sums of small matrices change few signs.
TEST(LensFit, IsTheLensThatTorchSaved) {
  const JacobianLens lens = FittedLens("llama", {test::PromptIds("llama")});
  const std::vector<float> saved =
      JacobianLensFile(MIDSCOPE_TESTS "/core/golden/lenses/transformer_lens.pt").Matrix(0);
  const std::vector<float>& fitted = lens.matrices.at(0);
  ASSERT_EQ(fitted.size(), saved.size());
  for (size_t i = 0; i < saved.size(); ++i) EXPECT_NEAR(fitted[i], saved[i], kNormTolerance);
}

// Adds `step` to one element of the stream of one token before one layer.
class MovesOneStream : public Hook {
 public:
  explicit MovesOneStream(int64_t layer) : layer_(layer) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& /*sequence*/) override {
    if (point != HookPoint{HookSite::kResidPre, layer_}) return {};
    return {HookAccess::kWrite, {row, row + 1}};
  }
  void OnActivation(HookView& view) override {
    view.Set(0, 0, element, 0, view.At(0, 0, element) + step);
  }
  int64_t row = 0;
  int64_t element = 0;
  float step = 0;

 private:
  int64_t layer_;
};

TEST(LensFit, EqualsFiniteDifferencesOfTheDecoder) {
  constexpr int64_t kLayer = 1;
  constexpr int64_t kElement = 5;
  constexpr float kLensStep = 1e-2F;
  const auto decoder = test::TinyDecoder("smollm3");
  const std::vector<int32_t> ids = test::PromptIds("smollm3");
  const auto hidden = static_cast<size_t>(decoder->config().hidden);
  std::vector<int64_t> counted;
  for (int64_t row = kLensSkippedPositions; row < std::ssize(ids) - 1; ++row)
    counted.push_back(row);
  std::vector<double> column(hidden);  // mean over sources, summed over targets
  MovesOneStream hook(kLayer + 1);
  hook.element = kElement;
  for (const int64_t source : counted) {
    hook.row = source;
    for (const float sign : {1.0F, -1.0F}) {
      hook.step = sign * kLensStep;
      ResidualRows rows(decoder->config(), counted);
      RunRequest run;
      run.ids = ids;
      run.hooks = {&hook, &rows};
      (void)decoder->RunOne(run);
      const size_t last = rows.values().size() - counted.size() * hidden;
      for (size_t i = last; i < rows.values().size(); ++i) {
        column[(i - last) % hidden] +=
            double{sign} * rows.values()[i] / (2 * kLensStep * static_cast<double>(counted.size()));
      }
    }
  }
  const JacobianLens lens = FittedLens("smollm3", {ids});
  for (size_t i = 0; i < hidden; ++i) {
    const double fitted = lens.matrices.at(kLayer)[i * hidden + kElement];
    EXPECT_NEAR(fitted, column[i], kHalfTolerance) << i;
  }
}

TEST(LensFit, IsTheMeanOverPrompts) {
  const std::vector<int32_t> one = test::PromptIds("llama");
  const std::vector<int32_t> other(one.rbegin(), one.rend() - 10);
  const JacobianLens first = FittedLens("llama", {one});
  const JacobianLens second = FittedLens("llama", {other});
  const JacobianLens both = FittedLens("llama", {one, other});
  EXPECT_EQ(both.prompts, 2);
  EXPECT_EQ(both.hidden, 36);
  double difference = 0;
  for (size_t i = 0; i < both.matrices.at(0).size(); ++i) {
    const double mean = (double{first.matrices.at(0)[i]} + second.matrices.at(0)[i]) / 2;
    EXPECT_NEAR(both.matrices.at(0)[i], mean, 1e-6);
    difference += std::abs(mean - first.matrices.at(0)[i]);
  }
  EXPECT_GT(difference, 0.1);
}

TEST(LensFit, StopsBetweenRowsAndLeavesTheLens) {
  std::atomic<bool> cancel = false;
  JobContext context;
  context.cancel = &cancel;
  const LensFit fit(*OpenModel(test::TinyModelPath("llama")), {}, context);
  JacobianLens lens;
  int64_t rows = 0;
  const auto report = [&](int64_t done) {
    rows = done;
    cancel = done == 3;
  };
  EXPECT_THROW(fit.Add(test::PromptIds("llama"), report, &lens), Cancelled);
  EXPECT_EQ(rows, 3);
  EXPECT_EQ(lens.prompts, 0);
  EXPECT_TRUE(lens.matrices.empty());
}

}  // namespace
}  // namespace midscope
