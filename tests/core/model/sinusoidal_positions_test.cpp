// SPDX-License-Identifier: MIT
// Sinusoidal positions: the family that has them (xglm; families_test and positions_test compare
// its numbers with transformers), non-integer positions, and runs beyond the context.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::Difference;
using test::ErrorMessage;
using test::ErrorWith;
using test::Largest;
using test::OpenErrorWith;
using ::testing::HasSubstr;

constexpr int64_t kContext = 131;

std::shared_ptr<Decoder> OpenXglm(bool beyond_context) {
  DecoderOptions options;
  options.threads = 1;
  options.beyond_context = beyond_context;
  return Decoder::Open(test::TinyModelFolder("xglm"), options);
}

TEST(FolderModel, XglmHasScaledEmbeddingsAndNoTableOfPositions) {
  const ModelConfig plain = ConfigWith("xglm", {{"scale_embedding", nullptr},
                                                {"activation_function", nullptr},
                                                {"tie_word_embeddings", nullptr}});
  EXPECT_EQ(plain.positions, PositionKind::kSinusoidal);
  EXPECT_EQ(plain.embedding_scale, std::sqrt(30.0));
  EXPECT_EQ(plain.activation, Activation::kGelu);
  EXPECT_TRUE(plain.tied_embeddings);
  EXPECT_EQ(plain.trained_context, kContext);
  EXPECT_EQ(ConfigWith("xglm", {{"scale_embedding", false}}).embedding_scale, 1.0);
  EXPECT_THAT(ErrorWith("xglm", {{"add_cross_attention", true}}),
              HasSubstr("add_cross_attention is true, which is not supported"));
  EXPECT_THAT(OpenErrorWith("xglm", {{"d_model", 24}}), HasSubstr("shape"));
}

TEST(SinusoidalPositions, ReachBeyondTheContextWhereAsked) {
  const std::vector<int32_t> ids = test::SomeTinyIds(kContext + 9);
  RunRequest request;
  request.ids = ids;
  EXPECT_THAT(ErrorMessage([&] { OpenXglm(false)->RunOne(request); }),
              HasSubstr("the model's context holds 131"));
  const auto decoder = OpenXglm(true);
  const std::vector<float> last = decoder->RunOne(request).logits;
  // Given ids that are the tokens' own places change nothing.
  request.intervention = ParseIntervention("positions(sampler=full)");
  EXPECT_EQ(decoder->RunOne(request).logits, last);
}

// Ids between integers, which a learned table refuses; only rows from the first with another id on
// are run again.
TEST(SinusoidalPositions, WhatIfOfRealIdsEqualsAFullRun) {
  const auto decoder = OpenXglm(false);
  Prompt prompt;
  prompt.ids = test::SomeTinyIds(40);
  WhatIf what_if(decoder, {prompt});
  const Intervention setting = ParseIntervention("positions(sampler=randpos, factor=2.5)");
  const std::vector<float> clean = what_if.Evaluate({}).outcomes[0].last_logits;
  const std::vector<float> changed = what_if.Evaluate(setting).outcomes[0].last_logits;
  RunRequest request;
  request.ids = prompt.ids;
  request.intervention = setting;
  const std::vector<float> full = decoder->RunOne(request).logits;
  EXPECT_LE(Difference(changed, full), 1e-5 * Largest(full));
  EXPECT_GT(Difference(changed, clean), 1e-2 * Largest(full));
}

TEST(SinusoidalPositions, RefuseRotarySchemesByName) {
  const auto decoder = OpenXglm(false);
  const std::vector<int32_t> ids = test::SomeTinyIds(40);
  for (const char* setting :
       {"pi(1.5)", "ms-poe(min=1.2, max=1.8)", "self-extend(group=2, window=8)",
        "positions(sampler=pose, factor=1.5, rows=last)"}) {
    RunRequest request;
    request.ids = ids;
    EXPECT_THAT(ErrorMessage([&] {
                  request.intervention = ParseIntervention(setting);
                  decoder->RunOne(request);
                }),
                HasSubstr("its positions are sinusoidal embeddings"))
        << setting;
  }
}

}  // namespace
}  // namespace midscope
