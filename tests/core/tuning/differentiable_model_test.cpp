// SPDX-License-Identifier: MIT
// The differentiable pass follows the decoder. Tolerance: logits 1e-5 of the largest in float32
// (other order of sums), under the model's own positions and under given ids and schemes. Gradients
// are compared with transformers in gradients_golden_test.cpp.

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"
#include "core/tuning/differentiable_model.h"
#include "core/tuning/tuning_plans.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::HasSubstr;

constexpr double kTolerance = 1e-5;          // of the largest logit, float32
constexpr double kBFloat16Tolerance = 0.06;  // likewise, bfloat16: as in families_test
// For delta rules, whose tokens are taken in chunks here and one by one by the decoder.
constexpr double kChunkedTolerance = 3e-5;
constexpr double kChunkedBFloat16Tolerance = 0.1;
constexpr int64_t kTokens = 40;

// CREAM's ids have a head, a middle and a tail; the last ids are real numbers after a gap.
std::vector<double> CreamIds() {
  std::vector<double> ids(kTokens);
  std::iota(ids.begin(), ids.begin() + 8, 0.0);
  std::iota(ids.begin() + 8, ids.begin() + 30, 41.0);
  std::iota(ids.begin() + 30, ids.end(), 117.5);
  return ids;
}

std::vector<float> Values(const at::Tensor& tensor) {
  const at::Tensor floats = tensor.detach().to(at::kFloat).contiguous();
  return {floats.const_data_ptr<float>(), floats.const_data_ptr<float>() + floats.numel()};
}

class DifferentiableFamily : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    source_ = OpenModel(test::TinyModelPath(GetParam()));
    ids_ = test::PromptIds(GetParam());
  }

  at::Tensor Logits(const DifferentiableModel& model, const std::string& setting,
                    const std::vector<double>& position_ids) const {
    return model.Logits(
        ids_, TuningPlans(ParseIntervention(setting), position_ids, model.config(), kTokens));
  }

  std::vector<float> DecoderLogits(const Decoder& decoder, const std::string& setting,
                                   const std::vector<double>& position_ids) const {
    RunRequest request;
    request.ids = ids_;
    request.first_logit_row = 0;
    request.intervention = ParseIntervention(setting);
    if (!position_ids.empty()) {
      GivenPositions given;
      given.ids = position_ids;
      request.intervention.Add(TermOf(given));
    }
    return decoder.RunOne(request).logits;
  }

  std::unique_ptr<ModelSource> source_;
  std::vector<int32_t> ids_;
};

TEST_P(DifferentiableFamily, LogitsAreThoseOfTheDecoder) {
  const PositionKind positions = source_->config().positions;
  if (positions != PositionKind::kRotary && positions != PositionKind::kNone) {
    EXPECT_THAT(ErrorMessage([&] { DifferentiableModel(*source_, {}); }),
                AllOf(HasSubstr("model " + source_->config().architecture),
                      HasSubstr(UnrotatedText(source_->config().positions))));
    return;
  }
  const auto decoder =
      Decoder::Open(test::TinyModelPath(GetParam()), {.threads = 1, .beyond_context = true});
  const DifferentiableModel model(*source_, {});
  for (const char* setting : {"none", "pi(4)", "ntk(4)", "yarn(4, form=cream)", "base(500)"}) {
    for (const auto& position_ids : {std::vector<double>(), CreamIds()}) {
      const bool rotates = std::string_view(setting) != "none" || !position_ids.empty();
      if (positions == PositionKind::kNone && rotates) continue;
      const at::Tensor logits = Logits(model, setting, position_ids);
      const std::vector<float> expected = DecoderLogits(*decoder, setting, position_ids);
      EXPECT_TRUE(logits.requires_grad());
      const double tolerance = source_->config().HasMixers() ? kChunkedTolerance : kTolerance;
      EXPECT_LE(test::Difference(Values(logits), expected), tolerance * test::Largest(expected))
          << setting << (position_ids.empty() ? "" : " with ids");
    }
  }
}

TEST_P(DifferentiableFamily, BFloat16IsCloseAndHasGradientsEverywhere) {
  if (source_->config().positions != PositionKind::kRotary) return;
  const DifferentiableModel exact(*source_, {});
  const DifferentiableModel model(*source_, {.dtype = kernels::Dtype::kBFloat16});
  const at::Tensor logits = Logits(model, "pi(4)", CreamIds());
  EXPECT_EQ(logits.scalar_type(), at::kFloat);
  const std::vector<float> expected = Values(Logits(exact, "pi(4)", CreamIds()));
  if (source_->config().experts.count == 0) {  // another choice of experts is another model
    const double tolerance =
        source_->config().HasMixers() ? kChunkedBFloat16Tolerance : kBFloat16Tolerance;
    EXPECT_LE(test::Difference(Values(logits), expected), tolerance * test::Largest(expected));
  }
  model
      .NextTokenLoss(ids_,
                     TuningPlans(ParseIntervention("pi(4)"), CreamIds(), model.config(), kTokens))
      .backward();
  for (const auto& [name, weight] : model.weights()) {
    EXPECT_EQ(weight.scalar_type(), at::kBFloat16) << name;
    const bool may_be_unused = name.find(".experts.") != std::string::npos;
    if (!weight.requires_grad() || may_be_unused) continue;
    ASSERT_TRUE(weight.grad().defined()) << name;
    EXPECT_TRUE(weight.grad().isfinite().all().item<bool>()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(TinyModels, DifferentiableFamily,
                         ::testing::ValuesIn(test::TinyModelNames()),
                         [](const ::testing::TestParamInfo<std::string>& model) {
                           std::string name = model.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(TuningPlans, RefusesWhatItDoesNotFollow) {
  const auto source = OpenModel(test::TinyModelPath("llama"));
  const auto refusal = [&](const std::string& setting, const std::vector<double>& ids = {}) {
    return ErrorMessage(ErrorKind::kUsage, [&] {
      TuningPlans(ParseIntervention(setting), ids, source->config(), kTokens);
    });
  };
  EXPECT_THAT(refusal("ms-poe(first_layer=0)"), HasSubstr("heads different positions"));
  EXPECT_THAT(refusal("self-extend(group=2, window=8)"), HasSubstr("near and far keys"));
  EXPECT_THAT(refusal("pi(2, rows=last)"), HasSubstr("only some rows"));
  EXPECT_THAT(refusal("infini(segment=16)"), HasSubstr("compressive memory"));
  EXPECT_THAT(refusal("channel(3, factor=-1)"), HasSubstr("edits activations"));
  EXPECT_THAT(refusal("ablate(L0H1)"), HasSubstr("edits activations"));
  EXPECT_THAT(refusal("none", {1, 2, 3}), HasSubstr("there must be 40, one per token"));
  EXPECT_THAT(refusal("positions(sampler=pose)", CreamIds()), HasSubstr("Remove positions"));
  EXPECT_EQ(refusal("positions(sampler=pose, factor=2) + pi(2)"), "");
}

TEST(TuningPlans, ModelsWithoutPositionsTakeTheTokensOwnAlone) {
  const auto source = OpenModel(test::TinyModelPath("granite-hybrid"));
  const auto refusal = [&](const std::vector<double>& ids) {
    return ErrorMessage([&] { TuningPlans({}, ids, source->config(), kTokens); });
  };
  std::vector<double> rows(kTokens);
  std::iota(rows.begin(), rows.end(), 0.0);
  EXPECT_EQ(refusal(rows), "");
  rows.back() += 1;
  EXPECT_THAT(refusal(rows), HasSubstr("its attention has no positions"));
}

}  // namespace
}  // namespace midscope
