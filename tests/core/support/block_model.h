// SPDX-License-Identifier: MIT
// Llama models whose matrices contain random blocks of one type.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/quantised/dequantise.h"
#include "tests/core/support/gguf_writer.h"
#include "tests/kernels/support/block_scales.h"

namespace midscope::test {

// Returns the exponent of 2 for a block's binary16 scales that gives weights of a few hundredths.
inline int ScaleExponent(kernels::BlockType type) {
  using kernels::BlockType;
  switch (type) {
    case BlockType::kTQ1_0:
    case BlockType::kTQ2_0:
      return -5;
    case BlockType::kQ4_0:
    case BlockType::kQ4_1:
    case BlockType::kIQ1_S:
    case BlockType::kIQ1_M:
      return -7;
    case BlockType::kQ5_0:
    case BlockType::kQ5_1:
      return -8;
    case BlockType::kQ2_K:
      return -9;
    case BlockType::kQ3_K:
    case BlockType::kIQ2_XXS:
    case BlockType::kIQ2_XS:
    case BlockType::kIQ2_S:
      return -10;
    case BlockType::kIQ3_S:
      return -12;
    case BlockType::kQ4_K:
      return -13;
    case BlockType::kQ5_K:
    case BlockType::kQ6_K:
    case BlockType::kIQ4_XS:
      return -14;
    default:
      return -11;
  }
}

// `rows` rows of `columns` random elements of small magnitude.
inline std::string RandomBlocks(const kernels::BlockFormat& format, int64_t rows, int64_t columns,
                                std::mt19937& random) {
  using kernels::BlockType;
  std::normal_distribution<float> normal(0.0f, 0.06f);
  std::string bytes(static_cast<size_t>(rows * columns / format.elements * format.bytes), '\0');
  const int exponent = ScaleExponent(format.type);
  for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(format.bytes)) {
    char* block = bytes.data() + at;
    const float value = normal(random);
    const kernels::BFloat16 narrow = kernels::ToBFloat16(value);
    const auto sign_and_mantissa = static_cast<uint16_t>(random() & 0x83ff);
    const auto half =
        static_cast<uint16_t>(sign_and_mantissa | static_cast<uint16_t>(exponent + 15) << 10);
    if (format.type == BlockType::kF32) {
      std::memcpy(block, &value, sizeof(value));
    } else if (format.type == BlockType::kBF16) {
      std::memcpy(block, &narrow, sizeof(narrow));
    } else if (format.type == BlockType::kF16) {
      const auto small = static_cast<uint16_t>(sign_and_mantissa | 10 << 10);
      std::memcpy(block, &small, sizeof(small));
    } else {
      for (int64_t i = 0; i < format.bytes; ++i) block[i] = static_cast<char>(random());
      kernels::SetScales(format, block, half);
      if (format.type == BlockType::kMXFP4) *block = static_cast<char>(121 + random() % 2);
    }
  }
  return bytes;
}

// A model with 2 layers, 4 heads over 2 key-value heads of 64 dimensions, and a separate output
// matrix. `spoil`: a tensor whose first block gets an infinite scale.
inline GgufWriter BlockModel(kernels::BlockType type, const std::string& spoil = "") {
  const kernels::BlockFormat format = *kernels::FindBlockFormat(static_cast<uint32_t>(type));
  GgufWriter writer = TinyMetadata();
  writer.Remove("llama.embedding_length").Uint32("llama.embedding_length", 256);
  writer.Remove("llama.feed_forward_length").Uint32("llama.feed_forward_length", 512);
  std::mt19937 random(static_cast<unsigned>(type) + 1);
  const auto matrix = [&](const std::string& name, int64_t rows, int64_t columns) {
    std::string bytes = RandomBlocks(format, rows, columns, random);
    constexpr uint16_t kInfinity = 0x7c00;
    if (name == spoil && type == kernels::BlockType::kMXFP4) {
      bytes[0] = '\xff';
    } else if (name == spoil && type == kernels::BlockType::kF16) {
      std::memcpy(bytes.data(), &kInfinity, sizeof(kInfinity));
    } else if (name == spoil) {
      kernels::SetScales(format, bytes.data(), kInfinity);
    }
    writer.BlockTensor(name, {rows, columns}, type, bytes);
  };
  const auto norm = [&](const std::string& name) {
    writer.Float32Tensor(name, {256}, std::vector<float>(256, 1.0f));
  };
  matrix("token_embd.weight", 259, 256);
  matrix("output.weight", 259, 256);
  norm("output_norm.weight");
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    norm(layer + "attn_norm.weight");
    norm(layer + "ffn_norm.weight");
    matrix(layer + "attn_q.weight", 256, 256);
    matrix(layer + "attn_k.weight", 128, 256);
    matrix(layer + "attn_v.weight", 128, 256);
    matrix(layer + "attn_output.weight", 256, 256);
    matrix(layer + "ffn_gate.weight", 512, 256);
    matrix(layer + "ffn_up.weight", 512, 256);
    matrix(layer + "ffn_down.weight", 256, 512);
  }
  return writer;
}

}  // namespace midscope::test
