// SPDX-License-Identifier: MIT
// Gradients by passage and part, and their means by place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "probes/base/record_stack.h"
#include "probes/base/records.h"
#include "probes/measure/influence/influence_records.h"

namespace midscope {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsNan;

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
  EXPECT_FALSE(std::isnan(ArrayValues<double>(without, "answer_gradient_by_part")[0]));
  EXPECT_TRUE(std::isnan(ArrayValues<double>(without, "answer_gradient_by_part")[1]));
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
}

}  // namespace
}  // namespace midscope
