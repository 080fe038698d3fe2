// SPDX-License-Identifier: MIT
// Models made by hand: in one a single head and rotary pair make the last query look at near
// tokens, in the other nothing does. Every head copies what it reads into the answer's logit.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "tests/core/support/gguf_writer.h"
#include "tests/probes/support/attribution_golden.h"

namespace midscope {
namespace {

using test::GgufWriter;
using testing::MeasureProbe;

constexpr int64_t kHidden = 32;
constexpr int64_t kHeads = 4;
constexpr int64_t kHeadDim = 8;
constexpr int64_t kLayers = 2;
constexpr int64_t kVocabulary = 259;
constexpr int64_t kPairs = kHeadDim / 2;
constexpr int64_t kTokens = 24;
// What is planted: L1H2 and its second pair, which turns once in 63 tokens.
constexpr int64_t kLayer = 1;
constexpr int64_t kHead = 2;
constexpr int64_t kPair = 1;
// Channels: one that all tokens share, those of the tokens A and B, that of other tokens, and those
// that the output matrix reads.
constexpr int64_t kConstant = 0;
constexpr int64_t kOfA = 1;
constexpr int64_t kOfB = 2;
constexpr int64_t kOfOthers = 3;
constexpr int64_t kWrittenA = 4;
constexpr int64_t kWrittenB = 5;

struct Matrix {
  Matrix(int64_t row_count, int64_t column_count)
      : rows(row_count),
        columns(column_count),
        values(static_cast<size_t>(row_count * column_count)) {}
  float& At(int64_t row, int64_t column) {
    return values[static_cast<size_t>(row * columns + column)];
  }
  int64_t rows;
  int64_t columns;
  std::vector<float> values;
};

// `strength` of the planted query and key; 0: nothing is planted.
std::shared_ptr<const Decoder> MakeModel(float strength) {
  GgufWriter writer = test::TinyMetadata();
  writer.Remove("llama.embedding_length").Uint32("llama.embedding_length", kHidden);
  const auto add = [&](const std::string& name, const Matrix& matrix) {
    writer.Float32Tensor(name, {matrix.rows, matrix.columns}, matrix.values);
  };
  const auto add_norm = [&](const std::string& name) {
    writer.Float32Tensor(name, {kHidden}, std::vector<float>(kHidden, 1.0f));
  };
  Matrix embedding(kVocabulary, kHidden);
  Matrix output(kVocabulary, kHidden);
  for (int64_t token = 0; token < kVocabulary; ++token) {
    embedding.At(token, kConstant) = 1;
    embedding.At(token, token == 'A' ? kOfA : token == 'B' ? kOfB : kOfOthers) = 1;
  }
  output.At('A', kWrittenA) = 1;
  output.At('B', kWrittenB) = 1;
  add("token_embd.weight", embedding);
  add("output.weight", output);
  add_norm("output_norm.weight");
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    Matrix q(kHeads * kHeadDim, kHidden);
    Matrix k(kHeads / 2 * kHeadDim, kHidden);
    Matrix v(kHeads / 2 * kHeadDim, kHidden);
    Matrix o(kHidden, kHeads * kHeadDim);
    // GGUF's llama has the elements of a pair side by side.
    if (layer == kLayer) {
      q.At(kHead * kHeadDim + 2 * kPair, kConstant) = strength;
      k.At(kHead / 2 * kHeadDim + 2 * kPair, kConstant) = strength;
    }
    for (int64_t group = 0; group < kHeads / 2; ++group) {
      v.At(group * kHeadDim, kOfA) = 1;
      v.At(group * kHeadDim + 1, kOfB) = 1;
    }
    for (int64_t head = 0; head < kHeads; ++head) {
      const float copies = layer == kLayer ? 1 : 0;
      o.At(kWrittenA, head * kHeadDim) = copies;
      o.At(kWrittenB, head * kHeadDim + 1) = copies;
    }
    add_norm(block + "attn_norm.weight");
    add_norm(block + "ffn_norm.weight");
    add(block + "attn_q.weight", q);
    add(block + "attn_k.weight", k);
    add(block + "attn_v.weight", v);
    add(block + "attn_output.weight", o);
    add(block + "ffn_gate.weight", Matrix(24, kHidden));
    add(block + "ffn_up.weight", Matrix(24, kHidden));
    add(block + "ffn_down.weight", Matrix(kHidden, 24));
  }
  const test::TemporaryFile file(writer.Bytes());
  return Decoder::Open(file.path().string(), {});
}

// Token A (the gold) and token B (another piece) among others.
Prompt MakePrompt(int64_t gold, int64_t other) {
  Prompt prompt;
  prompt.ids.assign(kTokens, 'x');
  prompt.ids[static_cast<size_t>(gold)] = 'A';
  prompt.ids[static_cast<size_t>(other)] = 'B';
  prompt.tokens.assign(kTokens, "t");
  prompt.text = std::string(kTokens, 'x');
  prompt.spans = {{"gold", gold, gold + 1, gold, gold + 1},
                  {"line 2", other, other + 1, other, other + 1}};
  prompt.answer = "A";
  prompt.answer_ids = {'A'};
  return prompt;
}

std::vector<double> HeadsOf(const Decoder& decoder, int64_t gold, int64_t other) {
  const Record record = MeasureProbe(decoder, MakePrompt(gold, other), "answer_attribution");
  EXPECT_EQ(std::get<int64_t>(record.attributes.at("against_token")), 'B');
  return ArrayValues<double>(record, "answer_attribution");
}

TEST(PlantedModel, AttributionPointsAtThePlantedHeadAlone) {
  const auto planted = MakeModel(4);
  const std::vector<double> near = HeadsOf(*planted, 20, 2);
  const std::vector<double> far = HeadsOf(*planted, 2, 20);
  for (int64_t head = 0; head < kLayers * kHeads; ++head) {
    const auto at = static_cast<size_t>(head);
    if (head == kLayer * kHeads + kHead) {
      EXPECT_GT(near[at], 0.05);
      EXPECT_LT(far[at], -0.05);
    } else {
      EXPECT_NEAR(near[at], 0, 1e-6) << head;
      EXPECT_NEAR(far[at], 0, 1e-6) << head;
    }
  }
  const auto without = MakeModel(0);
  for (const double value : HeadsOf(*without, 20, 2)) EXPECT_NEAR(value, 0, 1e-6);
}

TEST(PlantedModel, AttributionIsReadFromTheTokensThemselves) {
  const Record record = MeasureProbe(*MakeModel(4), MakePrompt(20, 2), "answer_attribution",
                                     {{"attribution-keys", "true"}});
  const auto& of_key = ArrayValues<double>(record, "answer_attribution_of_key");
  for (size_t key = 0; key < of_key.size(); ++key) {
    if (key == 20) {
      EXPECT_GT(of_key[key], 0.05);
    } else if (key == 2) {
      EXPECT_LT(of_key[key], 0);
    } else {
      EXPECT_NEAR(of_key[key], 0, 1e-6) << key;
    }
  }
}

TEST(PlantedModel, BandsPointAtThePlantedPairAlone) {
  for (const float strength : {4.0f, 0.0f}) {
    const auto decoder = MakeModel(strength);
    const Record record = MeasureProbe(*decoder, MakePrompt(20, 2), "rope_bands");
    const auto& bands = ArrayValues<double>(record, "rope_bands");
    const auto at = [&](int64_t target, int64_t layer, int64_t head, int64_t pair) {
      return bands[static_cast<size_t>(((target * kLayers + layer) * kHeads + head) * kPairs +
                                       pair)];
    };
    for (int64_t layer = 0; layer < kLayers; ++layer) {
      for (int64_t head = 0; head < kHeads; ++head) {
        for (int64_t pair = 0; pair < kPairs; ++pair) {
          const bool planted = strength > 0 && layer == kLayer && head == kHead && pair == kPair;
          for (int64_t target = 0; target < 3; ++target) {
            if (planted) continue;
            EXPECT_NEAR(at(target, layer, head, pair), 0, 1e-6);
          }
          if (!planted) continue;
          // The last tokens over the gold, four tokens away, over the first.
          EXPECT_GT(at(2, layer, head, pair), at(0, layer, head, pair) + 0.1);
          EXPECT_GT(at(0, layer, head, pair), at(1, layer, head, pair) + 10);
        }
      }
    }
    EXPECT_NEAR(ArrayValues<double>(record, "wavelength")[kPair], 62.83, 0.01);
  }
}

TEST(PlantedModel, KeysDriftWhereItWasPlanted) {
  for (const float strength : {4.0f, 0.0f}) {
    const Record record = MeasureProbe(*MakeModel(strength), MakePrompt(20, 2), "key_drift");
    const auto& slopes = ArrayValues<double>(record, "key_slope");
    for (int64_t head = 0; head < kLayers * kHeads; ++head) {
      // The planted key is shared with the next head (grouped heads), whose queries are 0.
      const bool drifts = strength > 0 && head / 2 == (kLayer * kHeads + kHead) / 2;
      if (drifts) {
        EXPECT_GT(std::abs(slopes[static_cast<size_t>(head)]), 0.1);
      } else {
        EXPECT_NEAR(slopes[static_cast<size_t>(head)], 0, 1e-6);
      }
    }
    const auto& strengths = ArrayValues<double>(record, "bias_strength");
    EXPECT_NEAR(strengths[kLayer * kHeads + kHead + 1], 0, 1e-6);
  }
}

}  // namespace
}  // namespace midscope
