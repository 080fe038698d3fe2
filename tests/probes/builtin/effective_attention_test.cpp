// SPDX-License-Identifier: MIT
// The probe has the last row of hook_effective_pattern (held against transformers in
// core/decoder/effective_pattern_test.cpp) with the gold's share, and its mean by place; a model
// whose layers all have attention is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/decoder/decoder.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/probes.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/tiny_models.h"
#include "tests/probes/support/attribution_golden.h"

namespace midscope {
namespace {

Record Measured(const std::string& model, bool gold) {
  const auto decoder = Decoder::Open(test::TinyModelPath(model), {});
  Prompt prompt;
  prompt.ids = {3, 1, 4, 1, 5, 9, 2, 6};
  for (const int32_t id : prompt.ids) prompt.tokens.push_back(std::to_string(id));
  if (gold) prompt.spans.push_back({"gold", 2, 5, 2, 5});
  return testing::MeasureProbe(*decoder, prompt, "effective_attention");
}

TEST(EffectiveAttention, HasWeightsAndTheShareOfTheGold) {
  const Record record = Measured("qwen3-5", true);
  EXPECT_EQ(AxisOf(record, "mixer_layer").values, (std::vector<double>{0, 2}));
  const auto& weights = ArrayValues<float>(record, "effective_attention");
  const auto& shares = ArrayValues<double>(record, "effective_gold_share");
  ASSERT_EQ(weights.size(), 2u * 4 * 8);
  ASSERT_EQ(shares.size(), 2u * 4);
  for (size_t row = 0; row < shares.size(); ++row) {
    double all = 0;
    double gold = 0;
    for (size_t key = 0; key < 8; ++key) {
      const double size = std::abs(weights[row * 8 + key]);
      all += size;
      if (key >= 2 && key < 5) gold += size;
    }
    EXPECT_NE(weights[row * 8 + 7], 0);
    EXPECT_NEAR(shares[row], gold / all, 1e-9);
  }
  EXPECT_EQ(Measured("qwen3-5", false).FindArray("effective_gold_share"), nullptr);
}

TEST(EffectiveAttention, HasMeansByPlace) {
  Record stacked;
  stacked.axes = {CountedAxis("sample", 2), CountedAxis("place", 1), ValuedAxis("mixer_layer", {4}),
                  CountedAxis("mixer_head", 2)};
  stacked.arrays = {{"effective_gold_share",
                     {"sample", "place", "mixer_layer", "mixer_head"},
                     std::vector<double>{0.1, 0.5, 0.3, 0.1},
                     "",
                     ""}};
  const Record record = EffectiveAttentionByPlace(stacked);
  const auto& means = ArrayValues<double>(record, "mean_effective_gold_share");
  ASSERT_EQ(means.size(), 2u);
  EXPECT_NEAR(means[0], 0.2, 1e-12);
  EXPECT_NEAR(means[1], 0.3, 1e-12);
}

TEST(EffectiveAttention, IsRefusedWhereAllLayersHaveAttention) {
  EXPECT_THAT(test::ErrorMessage([] { Measured("llama", false); }),
              ::testing::HasSubstr("all layers of the model have attention"));
}

}  // namespace
}  // namespace midscope
