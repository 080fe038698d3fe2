// SPDX-License-Identifier: MIT
// Gradients with respect to activations equal finite differences of the decoder: the stream of one
// token before one layer is moved by a hook, and the answer's likelihood is that of a run.
// Tolerance 1e-3 of the largest gradient, because differences of float32 sums are no more precise.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/decoder/hooks.h"
#include "core/terms/intervention_text.h"
#include "core/tuning/activation_gradients.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

constexpr int64_t kPromptTokens = 10;
constexpr int64_t kAllTokens = 12;  // with an answer of two
constexpr double kNormsTolerance = 1e-3;
constexpr double kStep = 2e-3;

// Adds `step` to one element of the stream of one token before one layer.
class MovesStream : public Hook {
 public:
  MovesStream(int64_t layer, int64_t row) : layer_(layer), row_(row) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& /*sequence*/) override {
    if (point != HookPoint{HookSite::kResidPre, layer_}) return {};
    return {HookAccess::kWrite, {row_, row_ + 1}};
  }
  void OnActivation(HookView& view) override {
    view.Set(0, 0, element, 0, view.At(0, 0, element) + static_cast<float>(step));
  }
  int64_t element = 0;
  double step = 0;

 private:
  int64_t layer_;
  int64_t row_;
};

// Multiplies the output of one head from a row on.
class ScalesHead : public Hook {
 public:
  ScalesHead(int64_t layer, int64_t head, int64_t first_row)
      : layer_(layer), head_(head), first_row_(first_row) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point != HookPoint{HookSite::kZ, layer_}) return {};
    return {HookAccess::kWrite, {first_row_, sequence.rows}};
  }
  void OnActivation(HookView& view) override {
    for (int64_t row = 0; row < view.rows(); ++row) {
      for (int64_t i = 0; i < view.shape[3]; ++i)
        view.Set(0, row, head_, i, view.At(0, row, head_, i) * factor);
    }
  }
  float factor = 1;

 private:
  int64_t layer_;
  int64_t head_;
  int64_t first_row_;
};

// Keeps the output of one head in a run's last prompt row; in later runs, moves it by `part` of the
// way to what was kept.
class TakesHead : public Hook {
 public:
  TakesHead(int64_t layer, int64_t head) : layer_(layer), head_(head) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point != HookPoint{HookSite::kZ, layer_}) return {};
    const int64_t last = kept_.empty() ? sequence.rows - 1 : kPromptTokens - 1;
    return {HookAccess::kWrite, {last, last + 1}};
  }
  void OnActivation(HookView& view) override {
    const bool keeps = kept_.empty();
    for (int64_t i = 0; i < view.shape[3]; ++i) {
      const float now = view.At(0, 0, head_, i);
      if (keeps) kept_.push_back(now);
      view.Set(0, 0, head_, i, now + part * (kept_[static_cast<size_t>(i)] - now));
    }
  }
  float part = 0;

 private:
  int64_t layer_;
  int64_t head_;
  std::vector<float> kept_;
};

// Returns logits [row, vocabulary] from the last token of the prompt on.
std::vector<float> LogitsOf(const Decoder& decoder, const std::vector<int32_t>& ids,
                            const std::string& setting, Hook* hook) {
  RunRequest request;
  request.ids = std::span(ids).first(ids.size() - 1);
  request.prompt_tokens = kPromptTokens;
  request.first_logit_row = kPromptTokens - 1;
  request.intervention = ParseIntervention(setting);
  if (hook != nullptr) request.hooks = {hook};
  return decoder.RunOne(request).logits;
}

double LogLikelihood(const Decoder& decoder, const std::vector<int32_t>& ids,
                     const std::string& setting, Hook* hook = nullptr) {
  const std::vector<float> logits = LogitsOf(decoder, ids, setting, hook);
  const size_t vocabulary = logits.size() / (kAllTokens - kPromptTokens);
  double sum = 0;
  for (size_t row = 0; row * vocabulary < logits.size(); ++row) {
    double total = 0;
    for (size_t i = 0; i < vocabulary; ++i) total += std::exp(double{logits[row * vocabulary + i]});
    sum +=
        logits[row * vocabulary + static_cast<size_t>(ids[kPromptTokens + row])] - std::log(total);
  }
  return sum;
}

class ActivationGradientsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ids_ = test::PromptIds(GetParam());
    ids_.resize(kAllTokens);
  }

  ActivationGradients Gradients(const std::string& setting, int64_t cotangents = 0) const {
    const auto source = OpenModel(test::TinyModelPath(GetParam()));
    const GradientPass pass(*source, {.setting = ParseIntervention(setting)}, {});
    return pass.Run({.ids = ids_, .prompt_tokens = kPromptTokens, .cotangents = cotangents});
  }

  std::vector<int32_t> ids_;
};

TEST_P(ActivationGradientsTest, NormsAreThoseOfFiniteDifferences) {
  const auto decoder = test::TinyDecoder(GetParam());
  for (const char* setting : {"none", "pi(2)"}) {
    const ActivationGradients found = Gradients(setting);
    EXPECT_NEAR(found.answer_nll, -LogLikelihood(*decoder, ids_, setting), 1e-4);
    ASSERT_EQ(std::ssize(found.answer_norm), found.layers * kPromptTokens);
    const double largest = *std::max_element(found.answer_norm.begin(), found.answer_norm.end());
    for (const int64_t layer : {int64_t{0}, found.layers - 1}) {
      for (const int64_t token : {int64_t{0}, int64_t{4}, kPromptTokens - 1}) {
        MovesStream hook(layer, token);
        double squares = 0;
        for (; hook.element < decoder->config().hidden; ++hook.element) {
          hook.step = kStep;
          const double up = LogLikelihood(*decoder, ids_, setting, &hook);
          hook.step = -kStep;
          const double down = LogLikelihood(*decoder, ids_, setting, &hook);
          squares += std::pow((up - down) / (2 * kStep), 2);
        }
        EXPECT_NEAR(found.answer_norm[static_cast<size_t>(layer * kPromptTokens + token)],
                    std::sqrt(squares), kNormsTolerance * largest)
            << setting << " layer " << layer << " token " << token;
      }
    }
  }
}

TEST_P(ActivationGradientsTest, HeadEffectsAreThoseOfASmallStepTowardsZero) {
  constexpr float kPart = 0.01F;
  const auto decoder = test::TinyDecoder(GetParam());
  const ActivationGradients found = Gradients("none");
  for (const int64_t first_row : {kPromptTokens - 1, int64_t{0}}) {
    const HeadEffects& effects = first_row == 0 ? found.all_rows : found.answer_rows;
    ASSERT_EQ(std::ssize(effects.zero), found.layers * found.heads);
    ASSERT_EQ(effects.mean.size(), effects.zero.size());
    double largest = 0;
    for (const double effect : effects.zero) largest = std::max(largest, std::abs(effect));
    for (int64_t head = 0; head < found.heads; ++head) {
      ScalesHead hook(1, head, first_row);
      hook.factor = 1 + kPart;
      const double up = LogLikelihood(*decoder, ids_, "none", &hook);
      hook.factor = 1 - kPart;
      const double down = LogLikelihood(*decoder, ids_, "none", &hook);
      EXPECT_NEAR(effects.zero[static_cast<size_t>(found.heads + head)],
                  (up - down) / (2 * double{kPart}), kNormsTolerance * largest)
          << head << " from row " << first_row;
    }
  }
}

// Between a prompt and itself nothing changes; from another prompt, the estimate is that of a small
// part of the way.
TEST_P(ActivationGradientsTest, PatchesAreEstimatedFromTheSourcesLastRow) {
  const auto source = OpenModel(test::TinyModelPath(GetParam()));
  const GradientPass pass(*source, {}, {});
  GradientRequest request{.ids = ids_, .prompt_tokens = kPromptTokens};
  request.source_ids.assign(ids_.begin(), ids_.begin() + kPromptTokens);
  for (const double effect : pass.Run(request).last_row_patch) EXPECT_NEAR(effect, 0, 1e-6);

  request.source_ids = {request.source_ids.end() - 5, request.source_ids.end()};
  const ActivationGradients found = pass.Run(request);
  ASSERT_EQ(std::ssize(found.last_row_patch), found.layers * found.heads);
  const auto decoder = test::TinyDecoder(GetParam());
  const double plain = LogLikelihood(*decoder, ids_, "none");
  constexpr float kPart = 0.01F;
  for (int64_t head = 0; head < found.heads; ++head) {
    TakesHead hook(found.layers - 1, head);
    RunRequest run;
    run.ids = request.source_ids;
    run.hooks = {&hook};
    (void)decoder->RunOne(run);
    hook.part = kPart;
    const double change = -(LogLikelihood(*decoder, ids_, "none", &hook) - plain) / kPart;
    EXPECT_NEAR(found.last_row_patch[static_cast<size_t>((found.layers - 1) * found.heads + head)],
                change, 0.02)
        << head;
  }
}

// The estimate has a relative deviation of about sqrt(2 / (rank * cotangents)).
TEST_P(ActivationGradientsTest, CotangentsEstimateTheJacobian) {
  constexpr int64_t kCotangents = 100;
  constexpr int64_t kToken = 4;
  constexpr double kDeviation = 0.15;
  const auto decoder = test::TinyDecoder(GetParam());
  const ActivationGradients found = Gradients("none", kCotangents);
  MovesStream hook(0, kToken);
  double squares = 0;
  for (; hook.element < decoder->config().hidden; ++hook.element) {
    hook.step = kStep;
    const std::vector<float> up = LogitsOf(*decoder, ids_, "none", &hook);
    hook.step = -kStep;
    const std::vector<float> down = LogitsOf(*decoder, ids_, "none", &hook);
    for (size_t i = 0; i < up.size() / (kAllTokens - kPromptTokens); ++i)
      squares += std::pow((double{up[i]} - down[i]) / (2 * kStep), 2);
  }
  const double exact = std::sqrt(squares);
  EXPECT_NEAR(found.output_norm[kToken], exact, kDeviation * exact);
}

INSTANTIATE_TEST_SUITE_P(TinyModels, ActivationGradientsTest,
                         ::testing::Values("llama", "gemma2", "gpt-neox", "qwen3", "qwen3-5",
                                           "lfm2"),
                         [](const ::testing::TestParamInfo<std::string>& model) {
                           std::string name = model.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace midscope
