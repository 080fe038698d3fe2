// SPDX-License-Identifier: MIT
// Models with weights set by hand. In one, a single head and rotary pair make the last query attend
// to near tokens; in the other, nothing does. Every head of the planted layer copies what it reads
// to the answer's logit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/tokenizer/prompt.h"
#include "tests/core/support/gguf_writer.h"

namespace midscope::testing::planted {

inline constexpr int64_t kHidden = 32;
inline constexpr int64_t kHeads = 4;
inline constexpr int64_t kHeadDim = 8;
inline constexpr int64_t kLayers = 2;
inline constexpr int64_t kVocabulary = 259;
inline constexpr int64_t kPairs = kHeadDim / 2;
inline constexpr int64_t kTokens = 24;
// The planted head and pair: L1H2 and its second pair, whose period is 63 tokens.
inline constexpr int64_t kLayer = 1;
inline constexpr int64_t kHead = 2;
inline constexpr int64_t kPair = 1;
// Channels: one shared by all tokens, those of the tokens A and B, that of other tokens, and those
// that the output matrix reads.
inline constexpr int64_t kConstant = 0;
inline constexpr int64_t kOfA = 1;
inline constexpr int64_t kOfB = 2;
inline constexpr int64_t kOfOthers = 3;
inline constexpr int64_t kWrittenA = 4;
inline constexpr int64_t kWrittenB = 5;

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

// `strength`: of the planted query and key; 0: nothing is planted.
inline std::shared_ptr<const Decoder> MakeModel(float strength) {
  test::GgufWriter writer = test::TinyMetadata();
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
    // GGUF's llama stores the two elements of a rotary pair next to each other.
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

// Token A (the gold) and token B (another piece) among filler tokens.
inline Prompt MakePrompt(int64_t gold, int64_t other) {
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

}  // namespace midscope::testing::planted
