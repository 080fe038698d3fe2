// SPDX-License-Identifier: MIT
// Attribution on every architecture: the parts sum to the difference of the logits, and the keys of
// a head sum to the head, also under interventions. Also: which token the answer is compared with.
#include "probes/measure/builtin/probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "probes/base/record_stack.h"
#include "probes/base/records.h"
#include "probes/engine/run_probe.h"
#include "probes/measure/builtin/attribution_parts.h"
#include "probes/prompt/task_prompt.h"
#include "tests/core/support/tiny_models.h"
#include "tests/probes/support/open_model.h"

namespace midscope {
namespace {

using testing::EmbeddedModel;

constexpr int64_t kTokens = 29;
// Relative to the largest part, because the run adds the parts in float32.
constexpr double kTolerance = 1e-4;

Prompt MakePrompt(int64_t vocabulary) {
  Prompt prompt;
  for (int64_t i = 0; i < kTokens; ++i) {
    prompt.ids.push_back(static_cast<int32_t>((i * 7 + 3) % vocabulary));
    prompt.tokens.push_back("t" + std::to_string(i));
    prompt.text += "x";
  }
  prompt.spans = {{"pair 1", 2, 6, 2, 6}, {"pair 2", 10, 14, 10, 14}, {"gold", 10, 14, 10, 14}};
  prompt.answer = "a";
  prompt.answer_ids = {5};
  return prompt;
}

Record Measure(const Decoder& decoder, const Prompt& prompt, const std::string& with) {
  const ProbeRegistry probes = BuiltInProbes();
  OptionSet options(probes.Options());
  options.SetText("probes", "answer_attribution");
  // Refused where what a head has read is gated.
  if (!decoder.config().gated_attention) options.SetText("attribution-keys", "true");
  const std::vector<Record> records =
      RunProbes(decoder, prompt, ParseIntervention(with), probes, options);
  records.front().Check();
  return records.front();
}

double Attribute(const Record& record, const std::string& name) {
  return std::get<double>(record.attributes.at(name));
}

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double Largest(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// Expects heads, biases, MLPs, embedding and constant to sum to the run's logits, and keys to
// heads.
void ExpectSums(const Record& record, const std::string& what, bool by_key_alone) {
  const auto& heads = ArrayValues<double>(record, "answer_attribution");
  const auto& parts = ArrayValues<double>(record, "attribution_of_part");
  const double sum = Sum(parts) + Attribute(record, "embedding_attribution") +
                     Attribute(record, "constant_attribution");
  const double scale = std::max(Largest(parts), std::abs(Attribute(record, "logit_difference")));
  EXPECT_NEAR(sum, Attribute(record, "attribution_sum"), 1e-9 * scale) << what;
  EXPECT_NEAR(sum, Attribute(record, "logit_difference"), kTolerance * scale) << what;
  if (!record.FindArray("answer_attribution_by_key")) return;
  const auto& by_key = ArrayValues<float>(record, "answer_attribution_by_key");
  const auto& without = ArrayValues<double>(record, "answer_attribution_without_key");
  const size_t keys = by_key.size() / heads.size();
  double of_keys = 0;
  for (size_t head = 0; head < heads.size(); ++head) {
    const double read =
        std::accumulate(by_key.begin() + static_cast<int64_t>(head * keys),
                        by_key.begin() + static_cast<int64_t>((head + 1) * keys), 0.0);
    of_keys += read;
    EXPECT_NEAR(read + without[head], heads[head], kTolerance * scale) << what;
    if (by_key_alone) {
      EXPECT_NEAR(without[head], 0, kTolerance * scale) << what;
    }
  }
  EXPECT_NEAR(Sum(ArrayValues<double>(record, "answer_attribution_of_key")), of_keys,
              kTolerance * scale)
      << what;
}

class EveryModel : public ::testing::TestWithParam<std::string> {};

// Whether the logits are not a sum of the heads' parts, so that the probe is rejected.
bool IsRefused(const ModelConfig& config) { return config.stream_norms; }

TEST_P(EveryModel, PartsSumToTheDifferenceOfTheLogits) {
  const auto decoder = Decoder::Open(test::TinyModelPath(GetParam()), {});
  const Prompt prompt = MakePrompt(decoder->config().vocabulary);
  if (IsRefused(decoder->config())) {
    EXPECT_THROW(Measure(*decoder, prompt, "none"), Error);
    return;
  }
  const Record plain = Measure(*decoder, prompt, "none");
  ExpectSums(plain, "none", true);
  EXPECT_GT(Largest(ArrayValues<double>(plain, "answer_attribution")), 1e-6);
  const int64_t head = std::min<int64_t>(decoder->config().heads - 1, 1);
  const int64_t layer = decoder->config().HasAttention(0) ? 0 : 1;
  const Record ablated = Measure(*decoder, prompt, "ablate(" + HeadName{layer, head}.Text() + ")");
  ExpectSums(ablated, "ablated", false);
  const int64_t at = layer * decoder->config().heads + head;
  EXPECT_EQ(ArrayValues<double>(ablated, "answer_attribution")[static_cast<size_t>(at)], 0);
  if (ablated.FindArray("answer_attribution_by_key")) {
    const auto& by_key = ArrayValues<float>(ablated, "answer_attribution_by_key");
    EXPECT_TRUE(std::any_of(by_key.begin() + at * kTokens, by_key.begin() + (at + 1) * kTokens,
                            [](float value) { return value != 0; }));
  }
  ExpectSums(Measure(*decoder, prompt, "channel(1, factor=-0.5)"), "channel", true);
  ExpectSums(Measure(*decoder, prompt, "channel(1, factor=-3, change_value=yes)"), "value", false);
}

INSTANTIATE_TEST_SUITE_P(TinyModels, EveryModel, ::testing::ValuesIn(test::TinyModelNames()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(AnswerAttribution, SumsOnTheEmbeddedModelUnderSchemesAndAMemory) {
  const auto task = MakeTaskFor(EmbeddedModel()->tokenizer(), "list:lines=8", 1);
  const Prompt prompt = TaskPrompt(EmbeddedModel()->tokenizer(), task->Make(0, 3));
  for (const char* with : {"none", "self-extend(group=4, window=24)", "ms-poe"}) {
    ExpectSums(Measure(*EmbeddedModel(), prompt, with), with, true);
  }
  const Record memory = Measure(*EmbeddedModel(), prompt, "infini(segment=32, gate=0.5)");
  ExpectSums(memory, "infini", false);
  EXPECT_GT(Largest(ArrayValues<double>(memory, "answer_attribution_without_key")), 1e-2);
}

TEST(AnswerAttribution, HasMeansByPlace) {
  const auto task = MakeTaskFor(EmbeddedModel()->tokenizer(), "list:lines=5", 1);
  std::vector<Record> records;
  for (const int64_t place : {1, 5}) {
    records.push_back(Measure(
        *EmbeddedModel(), TaskPrompt(EmbeddedModel()->tokenizer(), task->Make(0, place)), "none"));
  }
  const Record stacked =
      StackRecords(records, {CountedAxis("sample", 1), ValuedAxis("place", {1, 5})});
  const Record means = AnswerAttributionByPlace(stacked);
  means.Check();
  const auto& mean = ArrayValues<double>(means, "mean_answer_attribution");
  const auto& second = ArrayValues<double>(records[1], "answer_attribution");
  EXPECT_EQ(mean[second.size() + 7], second[7]);
  EXPECT_EQ(ArrayValues<double>(means, "mean_logit_difference")[0],
            Attribute(records[0], "logit_difference"));
}

TEST(ComparedTokens, AreTheAnswerAndTheLikeliestTokenOfOtherPieces) {
  const Tokenizer& tokenizer = EmbeddedModel()->tokenizer();
  Prompt prompt;
  prompt.ids = {1, 2, 3, 4, 5, 6, 7, 8};
  prompt.spans = {{"line 1", 0, 2, 0, 2},
                  {"line 2", 2, 4, 2, 4},
                  {"gold", 2, 4, 2, 4},
                  {"question", 6, 8, 6, 8}};
  prompt.answer_ids = {4, 9};
  //                           0  1  2  3  4  5  6  7  8  9
  std::vector<float> logits = {9, 1, 3, 8, 4, 5, 6, 7, 2, 0};
  const auto found = [&](const std::string& given = "") {
    return FindComparedTokens(tokenizer, prompt, logits, given);
  };
  EXPECT_EQ(found().token, 4);
  EXPECT_EQ(found().against, 2);  // token 3 is in the gold, 7 in the question, 0 nowhere
  EXPECT_EQ(found().rule, "other pieces");
  prompt.ids[0] = prompt.ids[1] = 3;  // the other piece has no token that the gold lacks
  EXPECT_EQ(found().against, 0);
  EXPECT_EQ(found().rule, "vocabulary");
  prompt.answer_ids.clear();
  EXPECT_EQ(found().token, 0);
  EXPECT_EQ(found().against, 3);
  const int32_t paris = *tokenizer.SingleToken(" Paris");
  EXPECT_EQ(found(" Paris and").against, paris);
  EXPECT_EQ(found(" Paris").rule, "given");
  prompt.answer_ids = {paris};
  EXPECT_THROW(found(" Paris"), Error);
}

}  // namespace
}  // namespace midscope
