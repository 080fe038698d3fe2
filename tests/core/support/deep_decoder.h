// SPDX-License-Identifier: MIT
// A small random model with the layers, heads and context of the embedded one, for tests of what
// does not depend on what a model has learned: a run takes a tenth of the time.
#pragma once

#include <memory>
#include <random>
#include <string>

#include "core/decoder/decoder.h"
#include "tests/core/support/block_model.h"

namespace midscope::testing {

// Llama in blocks of Q4_1: 30 layers, 9 heads over 3 key-value heads of 32 dimensions, 288 hidden
// channels, byte-level tokens and `context` trained positions.
inline std::string DeepModelBytes(uint32_t context = 8192) {
  constexpr int64_t kLayers = 30;
  constexpr int64_t kHidden = 288;
  constexpr int64_t kKeyValue = 96;
  constexpr int64_t kInner = 384;
  constexpr int64_t kTokens = 1024;
  const auto type = kernels::BlockType::kQ4_1;
  test::GgufWriter writer = test::TinyMetadata();
  const auto set = [&writer](const std::string& key, uint32_t value) {
    writer.Remove("llama." + key).Uint32("llama." + key, value);
  };
  set("block_count", kLayers);
  set("context_length", context);
  set("embedding_length", kHidden);
  set("feed_forward_length", kInner);
  set("attention.head_count", 9);
  set("attention.head_count_kv", 3);
  writer.Remove("llama.rope.freq_base").Float32("llama.rope.freq_base", 100000.0f);
  // Words that text never contains fill the vocabulary.
  std::vector<std::string> tokens;
  tokens.reserve(kTokens);
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(test::ByteCharacter(byte));
  while (tokens.size() < kTokens - 1) tokens.push_back("word" + std::to_string(tokens.size()));
  tokens.emplace_back("<|end|>");
  std::vector<int32_t> types(tokens.size(), 1);
  types.back() = 3;
  for (const char* key : {"tokens", "token_type", "merges", "bos_token_id"})
    writer.Remove(std::string("tokenizer.ggml.") + key);
  writer.Strings("tokenizer.ggml.tokens", tokens).Int32s("tokenizer.ggml.token_type", types);
  writer.Strings("tokenizer.ggml.merges", {});
  writer.Uint32("tokenizer.ggml.bos_token_id", kTokens - 1);

  std::mt19937 random(1);
  const kernels::BlockFormat format = *kernels::FindBlockFormat(static_cast<uint32_t>(type));
  const auto matrix = [&](const std::string& name, int64_t rows, int64_t columns) {
    writer.BlockTensor(name, {rows, columns}, type,
                       test::RandomBlocks(format, rows, columns, random));
  };
  const auto norm = [&](const std::string& name) {
    writer.Float32Tensor(name, {kHidden}, std::vector<float>(kHidden, 1.0f));
  };
  matrix("token_embd.weight", kTokens, kHidden);
  norm("output_norm.weight");
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    norm(block + "attn_norm.weight");
    norm(block + "ffn_norm.weight");
    matrix(block + "attn_q.weight", kHidden, kHidden);
    matrix(block + "attn_k.weight", kKeyValue, kHidden);
    matrix(block + "attn_v.weight", kKeyValue, kHidden);
    matrix(block + "attn_output.weight", kHidden, kHidden);
    matrix(block + "ffn_gate.weight", kInner, kHidden);
    matrix(block + "ffn_up.weight", kInner, kHidden);
    matrix(block + "ffn_down.weight", kHidden, kInner);
  }
  return writer.Bytes();
}

// The model above, made and opened once per test program.
inline std::shared_ptr<const Decoder> DeepDecoder() {
  static const std::shared_ptr<const Decoder> decoder = [] {
    const test::TemporaryFile file(DeepModelBytes());
    return Decoder::Open(file.path().string(), {});
  }();
  return decoder;
}

}  // namespace midscope::testing
