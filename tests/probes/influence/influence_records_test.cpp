// SPDX-License-Identifier: MIT
// Gradients by passage and part, and their means by place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "probes/base/record_stack.h"
#include "probes/base/records.h"
#include "probes/measure/influence/cesaro.h"
#include "probes/measure/influence/influence_records.h"

namespace midscope {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsNan;
using ::testing::Pointwise;

// Six tokens: two pieces of two tokens, the second of which is gold, a question, and one token of
// no passage.
Prompt SixTokens() {
  Prompt prompt;
  prompt.ids = {1, 2, 3, 4, 5, 6};
  prompt.spans = {{"line 1", 0, 0, 0, 2},
                  {"line 2", 0, 0, 2, 4},
                  {"gold", 0, 0, 2, 4},
                  {"question", 0, 0, 4, 5}};
  return prompt;
}

ActivationGradients Found(double gold) {
  ActivationGradients found;
  found.layers = 1;
  found.tokens = 6;
  found.heads = 1;
  found.answer_nll = 2;
  found.answer_norm = {1, 3, gold, gold, 5, 7};
  found.answer_rows = {.zero = {0.5}, .mean = {0.25}};
  found.all_rows = {.zero = {2}, .mean = {1}};
  return found;
}

TEST(InfluenceRecord, HasMeansOfPassagesAndParts) {
  const Record record = InfluenceRecord(SixTokens(), Found(4), 3);
  record.Check();
  EXPECT_THAT(ArrayValues<double>(record, "answer_gradient_gold"), ElementsAre(4));
  EXPECT_THAT(ArrayValues<double>(record, "answer_gradient_distractors"), ElementsAre(2));
  EXPECT_THAT(ArrayValues<double>(record, "answer_gradient_question"), ElementsAre(5));
  EXPECT_THAT(ArrayValues<double>(record, "answer_gradient_by_part"),
              ElementsAre(DoubleEq(0.5), DoubleEq(1), DoubleEq(1.5)));
  EXPECT_EQ(record.FindArray("output_gradient"), nullptr);

  Prompt plain = SixTokens();
  plain.spans.clear();
  const Record without = InfluenceRecord(plain, Found(4), 12);
  EXPECT_THAT(ArrayValues<double>(without, "answer_gradient_gold"), ElementsAre(IsNan()));
  const auto& parts = ArrayValues<double>(without, "answer_gradient_by_part");
  EXPECT_EQ(parts[0], 1 / 4.);
  EXPECT_EQ(parts[1], parts[0]);  // half a token
  const auto& shares = ArrayValues<double>(without, "answer_gradient_by_share");
  ASSERT_EQ(shares.size(), 100u);
  EXPECT_EQ(shares.front(), 1 / 4.);
  EXPECT_EQ(shares.back(), 7 / 4.);
  EXPECT_EQ(AxisOf(without, "share").values.front(), 0.5);
}

TEST(InfluenceByPlace, AveragesSamples) {
  const std::vector<Record> prompts = {InfluenceRecord(SixTokens(), Found(4), 2),
                                       InfluenceRecord(SixTokens(), Found(1), 2)};
  const Record means = InfluenceByPlace(
      StackRecords(prompts, {ValuedAxis("sample", {0, 1}), ValuedAxis("place", {2})}));
  means.Check();
  EXPECT_THAT(ArrayValues<double>(means, "answer_nll"), ElementsAre(2));
  EXPECT_THAT(ArrayValues<double>(means, "answer_gradient_gold"), ElementsAre(2.5));
  EXPECT_THAT(ArrayValues<double>(means, "answer_gradient_gold_ratio"),  // of 2 and 1/2
              ElementsAre(DoubleEq(1)));
  EXPECT_LT(ArrayValues<double>(means, "answer_gradient_gold_ratio_low")[0], 1);
  EXPECT_GT(ArrayValues<double>(means, "answer_gradient_gold_ratio_high")[0], 1);
  EXPECT_THAT(ArrayValues<double>(means, "head_zero_effect"), ElementsAre(0.5));
  EXPECT_THAT(ArrayValues<double>(means, "head_mean_effect_all_rows"), ElementsAre(1));
  EXPECT_EQ(means.FindArray("answer_gradient"), nullptr);
  EXPECT_LT(ArrayValues<double>(means, "answer_gradient_gold_low")[0], 2.5);
  EXPECT_GT(ArrayValues<double>(means, "answer_gradient_gold_high")[0], 2.5);
  // The mean of 1 / 4 and of 1 / 3.
  EXPECT_THAT(ArrayValues<double>(means, "answer_gradient_by_share")[0], DoubleEq(7 / 24.));
  EXPECT_EQ(means.FindArray(kClosedFormByPart), nullptr);
}

TEST(InfluenceByPlace, HasTheClosedFormOfTheOutput) {
  ActivationGradients found = Found(4);
  found.output_norm = CesaroInfluence(6, 1, 0.3);
  const Record means =
      InfluenceByPlace(StackRecords({InfluenceRecord(SixTokens(), found, 6)},
                                    {ValuedAxis("sample", {0}), ValuedAxis("place", {2})}));
  means.Check();
  EXPECT_DOUBLE_EQ(std::get<double>(means.attributes.at(kClosedFormAlpha)), 0.3);
  EXPECT_THAT(ArrayValues<double>(means, kClosedFormByPart),
              Pointwise(DoubleNear(1e-9), ArrayValues<double>(means, "output_gradient_by_part")));
  EXPECT_THAT(ArrayValues<double>(means, kClosedFormByShare),
              Pointwise(DoubleNear(1e-9), ArrayValues<double>(means, "output_gradient_by_share")));
}

}  // namespace
}  // namespace midscope
