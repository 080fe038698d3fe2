// SPDX-License-Identifier: MIT
// Plain loops, compiled for each instruction set by Highway's dispatch and vectorised by the
// compiler.
#include "kernels/dequantise.h"

#include <array>
#include <cassert>

#include "kernels/dequantise_blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dequantise.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

constexpr int64_t kBlock = 32;
constexpr int64_t kHalf = kBlock / 2;

void FromHalf(const uint8_t* HWY_RESTRICT from, int64_t count, float* HWY_RESTRICT out) {
  for (int64_t i = 0; i < count; ++i) out[i] = ReadHalf(from + 2 * i);
}

void FromBFloat16(const uint8_t* HWY_RESTRICT from, int64_t count, float* HWY_RESTRICT out) {
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, from + 2 * i, sizeof(bits));
    out[i] = std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
}

// Low nibbles are the block's first half, high nibbles its second; `high` holds a fifth bit for
// each element.
template <bool kFiveBits>
HWY_INLINE void Unpack(const uint8_t* HWY_RESTRICT nibbles, uint32_t high,
                       int32_t* HWY_RESTRICT out) {
  for (int64_t i = 0; i < kHalf; ++i) {
    out[i] = nibbles[i] & 15;
    out[i + kHalf] = nibbles[i] >> 4;
  }
  if (!kFiveBits) return;
  for (int64_t i = 0; i < kBlock; ++i) out[i] |= static_cast<int32_t>((high >> i) & 1u) << 4;
}

template <bool kFiveBits>
void Centred(const uint8_t* HWY_RESTRICT at, int64_t blocks, float* HWY_RESTRICT out) {
  constexpr int64_t kQuants = kFiveBits ? 6 : 2;
  for (int64_t block = 0; block < blocks; ++block, at += kQuants + kHalf, out += kBlock) {
    const float d = ReadHalf(at);
    uint32_t high = 0;
    if (kFiveBits) std::memcpy(&high, at + 2, sizeof(high));
    alignas(64) int32_t quants[kBlock];
    Unpack<kFiveBits>(at + kQuants, high, quants);
    for (int64_t i = 0; i < kBlock; ++i) {
      out[i] = d * static_cast<float>(quants[i] - (kFiveBits ? 16 : 8));
    }
  }
}

template <bool kFiveBits>
void WithMinimum(const uint8_t* HWY_RESTRICT at, int64_t blocks, float* HWY_RESTRICT out) {
  constexpr int64_t kQuants = kFiveBits ? 8 : 4;
  for (int64_t block = 0; block < blocks; ++block, at += kQuants + kHalf, out += kBlock) {
    const float d = ReadHalf(at);
    const float m = ReadHalf(at + 2);
    uint32_t high = 0;
    if (kFiveBits) std::memcpy(&high, at + 4, sizeof(high));
    alignas(64) int32_t quants[kBlock];
    Unpack<kFiveBits>(at + kQuants, high, quants);
    for (int64_t i = 0; i < kBlock; ++i) out[i] = d * static_cast<float>(quants[i]) + m;
  }
}

void Bytes(const uint8_t* HWY_RESTRICT at, int64_t blocks, float* HWY_RESTRICT out) {
  for (int64_t block = 0; block < blocks; ++block, at += 2 + kBlock, out += kBlock) {
    const float d = ReadHalf(at);
    for (int64_t i = 0; i < kBlock; ++i) {
      out[i] = static_cast<float>(static_cast<int8_t>(at[2 + i])) * d;
    }
  }
}

// d, nibbles that stand for unevenly spaced values.
void NonLinear(const uint8_t* HWY_RESTRICT at, int64_t blocks, float* HWY_RESTRICT out) {
  for (int64_t block = 0; block < blocks; ++block, at += 2 + kHalf, out += kBlock) {
    const float d = ReadHalf(at);
    for (int64_t i = 0; i < kHalf; ++i) {
      out[i] = d * static_cast<float>(kNonLinearValues[at[2 + i] & 15]);
      out[i + kHalf] = d * static_cast<float>(kNonLinearValues[at[2 + i] >> 4]);
    }
  }
}

void DequantiseSmall(BlockType type, const uint8_t* from, int64_t count, float* out) {
  switch (type) {
    case BlockType::kF16:
      return FromHalf(from, count, out);
    case BlockType::kBF16:
      return FromBFloat16(from, count, out);
    case BlockType::kQ4_0:
      return Centred<false>(from, count, out);
    case BlockType::kQ4_1:
      return WithMinimum<false>(from, count, out);
    case BlockType::kQ5_0:
      return Centred<true>(from, count, out);
    case BlockType::kQ5_1:
      return WithMinimum<true>(from, count, out);
    case BlockType::kQ8_0:
      return Bytes(from, count, out);
    case BlockType::kIQ4_NL:
      return NonLinear(from, count, out);
    default:
      return;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(DequantiseSmall);

namespace {

constexpr std::array<BlockFormat, 15> kFormats = {{
    {BlockType::kF32, "F32", 1, 4},
    {BlockType::kF16, "F16", 1, 2},
    {BlockType::kQ4_0, "Q4_0", 32, 18},
    {BlockType::kQ4_1, "Q4_1", 32, 20},
    {BlockType::kQ5_0, "Q5_0", 32, 22},
    {BlockType::kQ5_1, "Q5_1", 32, 24},
    {BlockType::kQ8_0, "Q8_0", 32, 34},
    {BlockType::kQ2_K, "Q2_K", 256, 84},
    {BlockType::kQ3_K, "Q3_K", 256, 110},
    {BlockType::kQ4_K, "Q4_K", 256, 144},
    {BlockType::kQ5_K, "Q5_K", 256, 176},
    {BlockType::kQ6_K, "Q6_K", 256, 210},
    {BlockType::kIQ4_NL, "IQ4_NL", 32, 18},
    {BlockType::kIQ4_XS, "IQ4_XS", 256, 136},
    {BlockType::kBF16, "BF16", 1, 2},
}};

}  // namespace

std::optional<BlockFormat> FindBlockFormat(uint32_t type) {
  for (const BlockFormat& format : kFormats) {
    if (static_cast<uint32_t>(format.type) == type) return format;
  }
  return std::nullopt;
}

void Dequantise(BlockType type, const void* blocks, int64_t elements, float* out) {
  const auto format = FindBlockFormat(static_cast<uint32_t>(type));
  assert(format && elements % format->elements == 0);
  if (!format || elements <= 0) return;
  const auto* from = static_cast<const uint8_t*>(blocks);
  const int64_t count = elements / format->elements;
  if (type == BlockType::kF32) {
    std::memcpy(out, from, static_cast<size_t>(elements) * sizeof(float));
  } else if (format->elements == 256) {
    DequantiseSuperBlocks(type, from, count, out);
  } else {
    HWY_DYNAMIC_DISPATCH(DequantiseSmall)(type, from, count, out);
  }
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
