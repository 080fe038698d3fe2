// SPDX-License-Identifier: MIT
// Contract: divergences and weights are those of Pos2Distill's public code (kd/loss_design.py at
// ffa9715, whose numbers are repeated here); a model that is its own teacher on the same prompt has
// the divergence 0, and the teacher does not change while the student is tuned.
#include "core/tuning/distillation.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/tuning/tuner.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

TEST(Distillation, WeightsAreThoseOfThePublicCode) {
  const std::vector<double> divergences = {0.5, 0.2, 0.4, 1.0, 0.3};
  const std::vector<int64_t> places = {0, 3, 3, 7, 0};
  EXPECT_THAT(DistillationWeights(divergences, places),
              Pointwise(DoubleNear(1e-6), std::vector<double>{1, 0.165906, 0.331812, 1.336376, 1}));
  EXPECT_EQ(DistillationWeights(std::vector<double>{0, 0}, std::vector<int64_t>{2, 2}),
            (std::vector<double>{0, 0}));
}

TEST(Distillation, DivergenceIsTheMeanOverTheAnswersTokens) {
  // Rows 1 and 2 give the probabilities of the last two tokens.
  const at::Tensor logits = at::tensor({9.0F, 0.0F, std::log(3.0F), 0.0F, 0.0F, 0.0F, 5.0F, 1.0F});
  const at::Tensor student = LastLogProbabilities(logits.view({4, 2}), 2);
  ASSERT_EQ(student.sizes(), at::IntArrayRef({2, 2}));
  const at::Tensor teacher = at::tensor({0.5F, 0.5F, 0.25F, 0.75F}).view({2, 2}).log();
  const double first = 0.5 * std::log(0.5 / 0.75) + 0.5 * std::log(0.5 / 0.25);
  const double second = 0.25 * std::log(0.25 / 0.5) + 0.75 * std::log(0.75 / 0.5);
  EXPECT_NEAR(Divergence(teacher, student).item<double>(), (first + second) / 2, 1e-6);
}

// Two samples: one whose prompt is the teacher's, and one with another prompt.
TuningSample DistilledSample(int64_t index) {
  TuningSample sample;
  for (int32_t i = 0; i < 20; ++i) sample.teacher_ids.push_back((7 * i + i * i) % 250);
  sample.ids = sample.teacher_ids;
  sample.answer_tokens = 3;
  sample.place = index % 2;
  if (sample.place != 0) std::swap(sample.ids[2], sample.ids[12]);
  return sample;
}

TEST(Distillation, TheTeacherStaysAndTheStudentFollows) {
  const auto source = OpenModel(test::TinyModelPath("llama"));
  for (const bool is_adapter : {true, false}) {
    TunerSettings settings;
    settings.optimizer = {.rate = 2e-3, .steps = 20, .warm_up = 1};
    settings.batch = 2;
    settings.threads = 1;
    settings.distil = true;
    if (is_adapter) settings.lora = LoraSettings{.rank = 4};
    Tuner tuner(*source, settings, {});
    EXPECT_NEAR(tuner.MeanLoss(DistilledSample, 0, 1, {}), 0, 1e-6);
    const double before = tuner.MeanLoss(DistilledSample, 1, 1, {});
    EXPECT_GT(before, 1e-3);
    for (int64_t i = 0; i < settings.optimizer.steps; ++i) tuner.Step(DistilledSample, {});
    EXPECT_LT(tuner.MeanLoss(DistilledSample, 1, 1, {}), 0.8 * before) << is_adapter;
    EXPECT_NEAR(tuner.history().front().loss, before / 2, 1e-4 * before);
    EXPECT_GT(tuner.MeanLoss(DistilledSample, 0, 1, {}),
              1e-8);  // its teacher is the model of before
  }
}

}  // namespace
}  // namespace midscope
