// SPDX-License-Identifier: MIT
// The attribution probes compared with transformers with hooks and whole matrices
// (make_attribution_golden.py), on six tiny families (grouped heads, parallel blocks, LayerNorm,
// output norms, soft caps, partial rotation, layers without positions, ALiBi) and the embedded
// model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/probes/support/attribution_golden.h"

namespace midscope {
namespace {

using Json = nlohmann::json;
using testing::AttributionGolden;
using testing::ExpectNumbers;
using testing::GoldenModel;
using testing::GoldenPrompt;
using testing::kAttributionTolerance;
using testing::MeasureProbe;

double NumberIn(const Record& record, const std::string& name) {
  return std::get<double>(record.attributes.at(name));
}

TEST(AttributionGolden, HasSevenModels) { EXPECT_EQ(AttributionGolden()["cases"].size(), 7u); }

TEST(AttributionGolden, AnswerAttributionIsTheForwardOne) {
  for (const Json& item : AttributionGolden()["cases"]) {
    const std::string model = item["model"];
    const Record record = MeasureProbe(*GoldenModel(model), GoldenPrompt(item),
                                       "answer_attribution", {{"attribution-keys", "true"}});
    EXPECT_EQ(std::get<int64_t>(record.attributes.at("against_token")),
              item["against"].get<int64_t>())
        << model;
    const double difference = item["difference"];
    const double tolerance = kAttributionTolerance * std::max(1.0, std::abs(difference));
    EXPECT_NEAR(NumberIn(record, "logit_difference"), difference, tolerance) << model;
    EXPECT_NEAR(NumberIn(record, "attribution_sum"), difference, tolerance) << model;
    EXPECT_NEAR(NumberIn(record, "embedding_attribution"), item["embedding"].get<double>(),
                tolerance)
        << model;
    EXPECT_NEAR(NumberIn(record, "constant_attribution"), item["constant"].get<double>(), tolerance)
        << model;
    ExpectNumbers(ArrayValues<double>(record, "answer_attribution"), item["heads"],
                  kAttributionTolerance, model + " heads");
    const auto& parts = ArrayValues<double>(record, "attribution_of_part");
    const auto layers = static_cast<int64_t>(parts.size() / 3);
    const std::vector<double> biases(parts.begin() + layers, parts.begin() + 2 * layers);
    const std::vector<double> mlps(parts.begin() + 2 * layers, parts.end());
    ExpectNumbers(biases, item["attention_bias"], kAttributionTolerance, model + " biases");
    ExpectNumbers(mlps, item["mlp"], kAttributionTolerance, model + " MLPs");
    if (!item.contains("by_key")) continue;
    ExpectNumbers(ArrayValues<float>(record, "answer_attribution_by_key"), item["by_key"],
                  kAttributionTolerance, model + " keys");
  }
}

TEST(AttributionGolden, RopeBandsAreTheProductsOfRotatedQueriesAndKeys) {
  int compared = 0;
  for (const Json& item : AttributionGolden()["cases"]) {
    if (!item.contains("rope")) continue;
    ++compared;
    const std::string model = item["model"];
    const Record record = MeasureProbe(*GoldenModel(model), GoldenPrompt(item), "rope_bands");
    EXPECT_EQ(record.FindAxis("target")->labels,
              (std::vector<std::string>{"gold", "first", "last"}));
    ExpectNumbers(ArrayValues<double>(record, "unrotated_logit"), item["rope"]["unrotated"],
                  kAttributionTolerance, model + " unrotated");
    ExpectNumbers(ArrayValues<double>(record, "target_logit"), item["rope"]["logits"],
                  kAttributionTolerance, model + " logits");
    const auto& all = ArrayValues<double>(record, "rope_bands");
    std::vector<double> bands;
    for (size_t i = 0; i < all.size(); i += item["rope"]["band_step"].get<size_t>())
      bands.push_back(all[i]);
    ExpectNumbers(bands, item["rope"]["bands"], kAttributionTolerance, model + " bands");
  }
  EXPECT_EQ(compared, 6);
}

TEST(AttributionGolden, RopeBandsAreRefusedWhereNothingRotates) {
  for (const Json& item : AttributionGolden()["cases"]) {
    if (item["model"] != "mpt") continue;
    try {
      MeasureProbe(*GoldenModel("mpt"), GoldenPrompt(item), "rope_bands");
      FAIL();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("ALiBi"));
    }
  }
}

TEST(AttributionGolden, RolloutIsTheLastRowThroughWholePatterns) {
  for (const Json& item : AttributionGolden()["cases"]) {
    const std::string model = item["model"];
    const Record record =
        MeasureProbe(*GoldenModel(model), GoldenPrompt(item), "attention_rollout");
    ExpectNumbers(ArrayValues<double>(record, "attention_share"), item["rollout"]["share"], 1e-5,
                  model + " share");
    const auto& rollout = ArrayValues<double>(record, "attention_rollout");
    ExpectNumbers(rollout, item["rollout"]["rows"], 1e-5, model + " rows");
    const size_t keys = item["ids"].size();
    double gold = 0;
    for (int64_t key = item["gold"][0]; key < item["gold"][1]; ++key)
      gold += rollout[keys + static_cast<size_t>(key)];
    EXPECT_NEAR(ArrayValues<double>(record, "gold_rollout")[1], gold, 1e-12) << model;
    double sum = 0;
    for (size_t key = 0; key < keys; ++key) sum += rollout[key];
    EXPECT_NEAR(sum, 1, 1e-5) << model;
  }
}

TEST(AttributionGolden, SinkWeightsAreMeansOfWholeColumns) {
  for (const Json& item : AttributionGolden()["cases"]) {
    const std::string model = item["model"];
    const Record record =
        MeasureProbe(*GoldenModel(model), GoldenPrompt(item), "sink_share",
                     {{"sink-rows", "all"}, {"sink-keys", "3"}, {"sink-epsilon", "0.12"}});
    const auto& weights = ArrayValues<double>(record, "sink_weight");
    ExpectNumbers(weights, item["sinks"]["mean_weight"], 1e-5, model);
    const auto& of_all = ArrayValues<double>(record, "sink_share_of_all");
    const auto& share = ArrayValues<double>(record, "sink_share");
    const auto layers = static_cast<double>(record.FindAxis("layer")->size);
    for (size_t key = 0; key < 3; ++key) {
      double above = 0;
      for (size_t head = key; head < weights.size(); head += 3) above += weights[head] > 0.12;
      EXPECT_NEAR(of_all[key], above / (static_cast<double>(weights.size()) / 3), 1e-12);
      double sum = 0;
      for (size_t layer = key; layer < share.size(); layer += 3) sum += share[layer];
      EXPECT_NEAR(of_all[key], sum / layers, 1e-12);
    }
  }
}

TEST(AttributionGolden, SinkOfTheLastRowIsItsPattern) {
  const Json& item = AttributionGolden()["cases"][0];
  const Prompt prompt = GoldenPrompt(item);
  const Decoder& decoder = *GoldenModel(item["model"]);
  const Record sinks = MeasureProbe(decoder, prompt, "sink_share");
  const Record rows = MeasureProbe(decoder, prompt, "last_query_attention");
  const auto& weights = ArrayValues<double>(sinks, "sink_weight");
  const auto& attention = ArrayValues<float>(rows, "last_query_attention");
  for (size_t head = 0; head < weights.size(); ++head)
    EXPECT_EQ(weights[head], double{attention[head * prompt.ids.size()]});
}

TEST(AttributionGolden, MassiveActivationsAreTheLargestOfTheStream) {
  for (const Json& item : AttributionGolden()["cases"]) {
    const std::string model = item["model"];
    const Record record =
        MeasureProbe(*GoldenModel(model), GoldenPrompt(item), "massive_activations");
    const auto& values = ArrayValues<float>(record, "activation");
    for (size_t layer = 0; layer < item["massive"].size(); ++layer) {
      const Json& expected = item["massive"][layer];
      const size_t at = layer * 3;
      const double value = expected[2];
      EXPECT_EQ(ArrayValues<int64_t>(record, "activation_token")[at], expected[0]) << model;
      EXPECT_EQ(ArrayValues<int64_t>(record, "activation_channel")[at], expected[1]) << model;
      EXPECT_NEAR(values[at], value, kAttributionTolerance * std::abs(value)) << model;
      EXPECT_GE(std::abs(values[at]), std::abs(values[at + 1]));
      EXPECT_GE(std::abs(values[at + 1]), std::abs(values[at + 2]));
      const double median = expected[3];
      EXPECT_NEAR(ArrayValues<double>(record, "median_magnitude")[layer], median,
                  kAttributionTolerance * median)
          << model;
    }
  }
}

// The largest change of attention_plasticity if two nearly equal products exchange their order. It
// is the mean over pairs of keys (in the first half of the prompt) of 4 p (1 - p), where p is a
// share of the queries (in the second half).
double OneComparison(size_t rows) {
  const size_t keys = rows / 2;
  const size_t queries = rows - keys;
  const size_t pairs = keys * (keys - 1) / 2;
  return 4.0 / static_cast<double>(queries * pairs);
}

TEST(AttributionGolden, KeyDriftIsThatOfWholeMatrices) {
  int compared = 0;
  for (const Json& item : AttributionGolden()["cases"]) {
    if (!item.contains("drift")) continue;
    ++compared;
    const std::string model = item["model"];
    const Record record = MeasureProbe(*GoldenModel(model), GoldenPrompt(item), "key_drift");
    const Json& drift = item["drift"];
    ExpectNumbers(ArrayValues<double>(record, "key_slope"), drift["slope"], kAttributionTolerance,
                  model + " slope");
    ExpectNumbers(ArrayValues<double>(record, "query_centroid"), drift["centroid"],
                  kAttributionTolerance, model + " centroid");
    ExpectNumbers(ArrayValues<double>(record, "key_position_correlation"), drift["correlation"],
                  kAttributionTolerance, model + " correlation");
    ExpectNumbers(ArrayValues<double>(record, "attention_plasticity"), drift["plasticity"],
                  2 * OneComparison(item["ids"].size()), model + " plasticity");
    const auto& slopes = ArrayValues<double>(record, "key_slope");
    const auto& centroids = ArrayValues<double>(record, "query_centroid");
    const auto& strengths = ArrayValues<double>(record, "bias_strength");
    for (size_t i = 0; i < slopes.size(); ++i)
      EXPECT_DOUBLE_EQ(strengths[i], slopes[i] * centroids[i]);
  }
  EXPECT_EQ(compared, 6);
}

TEST(AttributionGolden, QrScoresAreTheQuestionsLessTheNullQuestions) {
  for (const Json& item : AttributionGolden()["cases"]) {
    const std::string model = item["model"];
    const auto decoder = GoldenModel(model);
    const auto null_ids = item["null_question"].get<std::vector<int32_t>>();
    const std::string null_question = decoder->tokenizer().Decode(null_ids);
    ASSERT_EQ(decoder->tokenizer().EncodeIds(null_question), null_ids) << model;
    const Record record =
        MeasureProbe(*decoder, GoldenPrompt(item), "qr_heads", {{"null-question", null_question}});
    ExpectNumbers(ArrayValues<double>(record, "qr_score"), item["qr_heads"]["score"],
                  kAttributionTolerance, model);
  }
}

TEST(QrHeads, NeedAQuestionAfterTheGold) {
  const Json& item = AttributionGolden()["cases"][0];
  Prompt prompt = GoldenPrompt(item);
  std::swap(prompt.spans[0].name, prompt.spans[1].name);
  EXPECT_THROW(MeasureProbe(*GoldenModel(item["model"]), prompt, "qr_heads"), Error);
  prompt.spans.pop_back();
  EXPECT_THROW(MeasureProbe(*GoldenModel(item["model"]), prompt, "qr_heads"), Error);
}

// Captures the rows of hook_rot_q and hook_rot_k in layer 1.
class RotatedRow : public Hook {
 public:
  RotatedRow(HookSite site, int64_t row) : site_(site), row_(row) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo&) override {
    if (point != HookPoint{site_, 1}) return {};
    return {HookAccess::kRead, {row_, row_ + 1}};
  }
  void OnActivation(HookView& view) override {
    for (int64_t head = 0; head < view.shape[2]; ++head) {
      for (int64_t i = 0; i < view.shape[3]; ++i) values.push_back(view.At(0, 0, head, i));
    }
  }
  std::vector<float> values;

 private:
  HookSite site_;
  int64_t row_;
};

TEST(AttributionGolden, HooksShowQueriesAndKeysAfterRotation) {
  for (const Json& item : AttributionGolden()["cases"]) {
    if (!item.contains("rot_q")) continue;
    const std::string model = item["model"];
    const auto ids = item["ids"].get<std::vector<int32_t>>();
    RotatedRow q(HookSite::kRotatedQuery, static_cast<int64_t>(ids.size()) - 1);
    RotatedRow k(HookSite::kRotatedKey, 3);
    RunRequest request;
    request.ids = ids;
    request.hooks = {&q, &k};
    GoldenModel(model)->RunOne(request);
    ExpectNumbers(q.values, item["rot_q"], 1e-5, model + " q");
    ExpectNumbers(k.values, item["rot_k"], 1e-5, model + " k");
  }
}

}  // namespace
}  // namespace midscope
