// SPDX-License-Identifier: MIT
// Every probe on every architecture: grouped key heads, ALiBi, layers without positions, windows.
// The tests check invariants of all models (shapes, finite numbers, rows that sum to one), and the
// effect of ALiBi and of layers without rotation on scores and ratios.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/decoder/decoder.h"
#include "core/terms/intervention_text.h"
#include "probes/base/records.h"
#include "probes/engine/run_probe.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

constexpr int64_t kTokens = 29;

// Pieces of four tokens, of which the third is gold; the answer has two tokens.
Prompt MakePrompt(int64_t vocabulary) {
  Prompt prompt;
  for (int64_t i = 0; i < kTokens; ++i) {
    prompt.ids.push_back(static_cast<int32_t>((i * 7 + 3) % vocabulary));
    prompt.tokens.push_back("t" + std::to_string(i));
    prompt.text += "x";
  }
  for (int64_t piece = 0; piece < 6; ++piece) {
    const int64_t begin = 2 + 4 * piece;
    prompt.spans.push_back(
        {"pair " + std::to_string(piece + 1), begin, begin + 4, begin, begin + 4});
  }
  prompt.spans.push_back({"gold", 10, 14, 10, 14});
  prompt.spans.push_back({"question", 26, 28, 26, 28});
  prompt.answer = "ab";
  prompt.answer_ids = {5, 11};
  return prompt;
}

// The first array of that name in the records.
template <typename T>
std::vector<T> Values(const std::vector<Record>& records, const std::string& name) {
  for (const Record& record : records) {
    if (record.FindArray(name) != nullptr) return ArrayValues<T>(record, name);
  }
  throw std::logic_error("no array " + name);
}

class EveryModel : public testing::TestWithParam<std::string> {
 protected:
  std::vector<Record> Measure(const std::string& with) {
    const ProbeRegistry probes = BuiltInProbes();
    OptionSet options(probes.Options());
    std::string names =
        "default,span_attention,key_information,head_scores,logit_lens,retrieval_heads,qr_heads,"
        "attention_rollout,sink_share,massive_activations,key_drift,position_direction,perplexity";
    const bool adds_up = !decoder_->config().stream_norms;
    if (adds_up) names += ",answer_attribution";
    if (decoder_->config().positions == PositionKind::kRotary) names += ",rope_bands";
    if (decoder_->config().experts.count > 0) names += ",expert_use";
    if (decoder_->config().Mixer().heads > 0) names += ",effective_attention";
    if (EmbedsPositions(decoder_->config().positions)) names += ",position_embeddings";
    options.SetText("probes", names);
    options.SetText("channels", "0,1");
    return RunProbes(*decoder_, prompt_, ParseIntervention(with), probes, options);
  }

  std::shared_ptr<const Decoder> decoder_ = Decoder::Open(test::TinyModelPath(GetParam()), {});
  Prompt prompt_ = MakePrompt(decoder_->config().vocabulary);
};

TEST_P(EveryModel, TakesEveryProbe) {
  const ModelConfig& config = decoder_->config();
  const std::vector<Record> records = Measure("channel(1, factor=-0.5)");
  EXPECT_GE(records.size(), 17u);
  for (const Record& record : records) {
    record.Check();
    for (const auto& array : record.arrays) {
      const auto* values = std::get_if<std::vector<float>>(&array.data);
      if (values == nullptr) continue;
      const bool finite = std::all_of(values->begin(), values->end(),
                                      [](float value) { return !std::isinf(value); });
      EXPECT_TRUE(finite) << record.name << " " << array.name;
    }
  }
  const auto rows = Values<float>(records, "last_query_attention");
  ASSERT_EQ(rows.size(), static_cast<size_t>(config.layers * config.heads * kTokens));
  for (size_t row = 0; row < rows.size(); row += kTokens) {
    const double sum = std::accumulate(rows.begin() + static_cast<int64_t>(row),
                                       rows.begin() + static_cast<int64_t>(row) + kTokens, 0.0);
    const auto layer = static_cast<int64_t>(row) / (config.heads * kTokens);
    // Learned sinks take part of the attention.
    if (!config.HasAttention(layer)) {
      EXPECT_EQ(sum, 0);
    } else if (config.attention_sinks) {
      EXPECT_LT(sum, 1);
    } else {
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
  for (const float score : Values<float>(records, "position_awareness_score")) {
    EXPECT_GE(score, 0);
    EXPECT_LE(score, 1.0 / 3);  // not more keys can each have three times the mean
  }
}

// Ratios exist only for models with rotary positions; for others they are rejected.
TEST_P(EveryModel, HasRatiosWhereItRotates) {
  const ModelConfig& config = decoder_->config();
  if (config.positions != PositionKind::kRotary) {
    EXPECT_THROW(Measure("ms-poe(first_layer=0)"), Error);
    return;
  }
  const auto ratios =
      Values<double>(Measure("ms-poe(first_layer=0, mode=group)"), "position_ratio");
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const bool rotates =
        config.attention.empty() || config.attention[static_cast<size_t>(layer)].rotary;
    for (int64_t head = 0; head < config.heads; ++head) {
      const double ratio = ratios[static_cast<size_t>(layer * config.heads + head)];
      if (rotates) {
        EXPECT_GE(ratio, 1.2);
        EXPECT_LE(ratio, 1.8);
      } else {
        EXPECT_EQ(ratio, 1.0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TinyModels, EveryModel, testing::ValuesIn(test::TinyModelNames()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace midscope
