// SPDX-License-Identifier: MIT
// The decoder compared with an independent reference in Python (decoder_golden.json, made by
// make_decoder_golden.py), float32.
//
// Contract, in two steps, because Ms-PoE ranks heads by counts of keys near a threshold, and one
// key within rounding of 3/n exchanges ratios:
//   1. attended keys and ratios: counts may differ only for a key within 1e-6 of 3/n; with
//   equal counts, ratios are equal to 1e-6;
//   2. with the reference's ratios passed in: |difference| of the last row's logits <= 1e-4, as
//   the README states for 1,000 tokens, and of last-query attention <= 1e-4.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/decoder/captures.h"
#include "core/run/scoring.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/embedded_decoder.h"
#include "tests/paths.h"

namespace midscope {
namespace {

constexpr double kLogitTolerance = 1e-4;
constexpr double kAttentionTolerance = 1e-4;
constexpr double kRatioTolerance = 1e-6;

const nlohmann::json& Golden() {
  static const nlohmann::json golden =
      nlohmann::json::parse(std::ifstream(MIDSCOPE_TESTS "/core/golden/decoder_golden.json"));
  return golden;
}

struct Comparison {
  nlohmann::json golden;
  std::vector<int32_t> ids;
  Intervention intervention;
};

std::vector<Comparison> Comparisons() {
  std::vector<Comparison> all;
  for (const auto& golden : Golden()["cases"]) {
    const auto& prompt = Golden()["prompts"][golden["prompt"].get<std::string>()];
    all.push_back({golden, prompt["ids"].get<std::vector<int32_t>>(),
                   ParseIntervention(golden["setting"].get<std::string>())});
  }
  return all;
}

class DecoderGolden : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override { comparison_ = Comparisons()[GetParam()]; }
  Comparison comparison_;
};

// Counts keys of the un-rotated last row near the threshold, beside the counts themselves.
class NearThreshold : public PositionAwareness {
 public:
  using PositionAwareness::PositionAwareness;
  void OnActivation(HookView& view) override {
    PositionAwareness::OnActivation(view);
    const auto keys = static_cast<int64_t>(view.shape[3]);
    for (int64_t head = 0; head < view.shape[1]; ++head) {
      for (int64_t key = 0; key < keys; ++key) {
        if (std::abs(view.At(0, head, 0, key) - 3.0 / static_cast<double>(keys)) < 1e-6) ++near_;
      }
    }
  }
  int64_t near() const { return near_; }

 private:
  int64_t near_ = 0;
};

TEST_P(DecoderGolden, TokenizerGivesTheReferencesIds) {
  const auto& prompt = Golden()["prompts"][comparison_.golden["prompt"].get<std::string>()];
  EXPECT_EQ(testing::EmbeddedDecoder()->tokenizer().EncodeIds(prompt["text"].get<std::string>()),
            comparison_.ids);
}

TEST_P(DecoderGolden, CountsAndRatiosEqualTheReferences) {
  const auto decoder = testing::EmbeddedDecoder();
  const bool code =
      comparison_.golden["setting"].get<std::string>().find("mode=code") != std::string::npos;
  NearThreshold scores(decoder->config(), {code ? kernels::ThresholdRule::kGreater
                                                : kernels::ThresholdRule::kAtLeast});
  RunRequest request;
  request.ids = comparison_.ids;
  request.intervention = comparison_.intervention;
  request.hooks = {&scores};
  const RunResult result = decoder->RunOne(request);
  const auto expected = comparison_.golden["attended_keys"].get<std::vector<int64_t>>();
  ASSERT_EQ(scores.attended_keys().size(), expected.size());
  int64_t differing = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    differing += std::abs(expected[i] - scores.attended_keys()[i]);
  EXPECT_LE(differing, scores.near());
  if (differing > 0)
    return;  // a swap of ratios is then no fault; the second step compares with equal ratios
  const auto ratios = comparison_.golden["ratios"].get<std::vector<double>>();
  for (size_t i = 0; i < ratios.size(); ++i)
    EXPECT_NEAR(result.position_ratio.values[i], ratios[i], kRatioTolerance) << i;
}

TEST_P(DecoderGolden, LogitsAndAttentionEqualTheReferencesAtItsRatios) {
  const auto decoder = testing::EmbeddedDecoder();
  const ModelConfig& config = decoder->config();
  LastQueryAttention attention(config);
  RunRequest request;
  request.ids = comparison_.ids;
  request.intervention = comparison_.intervention;
  request.hooks = {&attention};
  request.ratios = HeadMatrix{config.layers, config.heads,
                              comparison_.golden["ratios"].get<std::vector<double>>()};
  const RunResult result = decoder->RunOne(request);

  const std::span<const float> logits =
      result.Logits(static_cast<int64_t>(comparison_.ids.size()) - 1);
  const auto step = Golden()["logit_step"].get<size_t>();
  const auto expected_logits = comparison_.golden["logits"].get<std::vector<double>>();
  for (size_t i = 0; i < expected_logits.size(); ++i) {
    ASSERT_NEAR(logits[i * step], expected_logits[i], kLogitTolerance) << "token " << i * step;
  }
  EXPECT_EQ(TopTokens(logits, 1).front().id, comparison_.golden["top"][0].get<int32_t>());

  const auto expected = comparison_.golden["attention"].get<std::vector<double>>();
  size_t next = 0;
  for (const int64_t layer : Golden()["layers"].get<std::vector<int64_t>>()) {
    for (const int64_t head : Golden()["heads"].get<std::vector<int64_t>>()) {
      for (const float weight : attention.Row(layer, head)) {
        ASSERT_NEAR(weight, expected[next++], kAttentionTolerance) << "L" << layer << "H" << head;
      }
    }
  }
  EXPECT_EQ(next, expected.size());
}

std::string CaseName(const ::testing::TestParamInfo<size_t>& info) {
  std::string name = Comparisons()[info.param].golden["prompt"].get<std::string>() + "_";
  for (const char c : Comparisons()[info.param].golden["setting"].get<std::string>()) {
    if (std::isalnum(static_cast<unsigned char>(c))) name += c;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Reference, DecoderGolden,
                         ::testing::Range<size_t>(0, Golden()["cases"].size()), CaseName);

}  // namespace
}  // namespace midscope
