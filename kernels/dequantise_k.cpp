// SPDX-License-Identifier: MIT
// The k-quants and IQ4_XS: super-blocks of 256 elements, with scales of 16 or 32 elements that are
// quantised themselves.
#include "kernels/dequantise_blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dequantise_k.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

constexpr int64_t kSuper = 256;
constexpr int64_t kPart = 32;               // elements that share a shift
constexpr int64_t kParts = kSuper / kPart;  // 8
constexpr int64_t kScales = 16;             // scales where each is for 16 elements

// scales [16], quants [64], d, minimum of d.
void Q2K(const uint8_t* HWY_RESTRICT at, int64_t blocks, float* HWY_RESTRICT out) {
  for (int64_t block = 0; block < blocks; ++block, at += 84, out += kSuper) {
    const float d = ReadHalf(at + 80);
    const float minimum = ReadHalf(at + 82);
    for (int64_t scale = 0; scale < kScales; ++scale) {
      const float step = d * static_cast<float>(at[scale] & 15);
      const float offset = minimum * static_cast<float>(at[scale] >> 4);
      const int64_t part = scale / 2;
      const uint8_t* quants = at + 16 + part / 4 * 32 + scale % 2 * 16;
      const auto shift = static_cast<int>(part % 4 * 2);
      for (int64_t i = 0; i < 16; ++i) {
        out[scale * 16 + i] = step * static_cast<float>((quants[i] >> shift) & 3) - offset;
      }
    }
  }
}

// High bits [32], quants [64], 6-bit scales [12], d.
void Q3K(const uint8_t* HWY_RESTRICT at, int64_t blocks, float* HWY_RESTRICT out) {
  for (int64_t block = 0; block < blocks; ++block, at += 110, out += kSuper) {
    const uint8_t* scales = at + 96;
    const float d = ReadHalf(at + 108);
    for (int64_t scale = 0; scale < kScales; ++scale) {
      const int low = (scales[scale % 8] >> (scale / 8 * 4)) & 15;
      const int high = (scales[8 + scale % 4] >> (scale / 4 * 2)) & 3;
      const float step = d * static_cast<float>((low | high << 4) - 32);
      const int64_t part = scale / 2;
      const uint8_t* quants = at + 32 + part / 4 * 32 + scale % 2 * 16;
      const uint8_t* masks = at + scale % 2 * 16;
      const auto shift = static_cast<int>(part % 4 * 2);
      for (int64_t i = 0; i < 16; ++i) {
        // The offset is there where the bit is not.
        const int offset = (((masks[i] >> part) & 1) ^ 1) << 2;
        out[scale * 16 + i] = step * static_cast<float>(((quants[i] >> shift) & 3) - offset);
      }
    }
  }
}

// Eight 6-bit scales and eight 6-bit minima in 12 bytes.
struct ScaleMinimum {
  int scale;
  int minimum;
};
HWY_INLINE ScaleMinimum ReadScale(const uint8_t* scales, int64_t part) {
  if (part < 4) return {scales[part] & 63, scales[part + 4] & 63};
  const int both = scales[part + 4];
  return {(both & 15) | ((scales[part - 4] >> 2) & 48), (both >> 4) | ((scales[part] >> 2) & 48)};
}

// d, minimum of d, scales [12], (fifth bits [32],) nibbles [128].
template <bool kFiveBits>
void Q45K(const uint8_t* HWY_RESTRICT at, int64_t blocks, float* HWY_RESTRICT out) {
  constexpr int64_t kQuants = kFiveBits ? 48 : 16;
  for (int64_t block = 0; block < blocks; ++block, at += kQuants + 128, out += kSuper) {
    const float d = ReadHalf(at);
    const float minimum = ReadHalf(at + 2);
    for (int64_t part = 0; part < kParts; ++part) {
      const ScaleMinimum read = ReadScale(at + 4, part);
      const float step = d * static_cast<float>(read.scale);
      const float offset = minimum * static_cast<float>(read.minimum);
      const uint8_t* quants = at + kQuants + part / 2 * kPart;
      const auto shift = static_cast<int>(part % 2 * 4);
      for (int64_t i = 0; i < kPart; ++i) {
        int quant = (quants[i] >> shift) & 15;
        if (kFiveBits) quant |= ((at[16 + i] >> part) & 1) << 4;
        out[part * kPart + i] = step * static_cast<float>(quant) - offset;
      }
    }
  }
}

// Nibbles [128], high bits [64], signed scales [16], d.
void Q6K(const uint8_t* HWY_RESTRICT at, int64_t blocks, float* HWY_RESTRICT out) {
  for (int64_t block = 0; block < blocks; ++block, at += 210, out += kSuper) {
    const float d = ReadHalf(at + 208);
    for (int64_t scale = 0; scale < kScales; ++scale) {
      const float step = d * static_cast<float>(static_cast<int8_t>(at[192 + scale]));
      const int64_t part = scale / 2;
      const int64_t within = scale % 2 * 16;
      const uint8_t* low = at + part / 4 * 64 + part % 2 * kPart + within;
      const uint8_t* high = at + 128 + part / 4 * 32 + within;
      const auto low_shift = static_cast<int>(part % 4 / 2 * 4);
      const auto high_shift = static_cast<int>(part % 4 * 2);
      for (int64_t i = 0; i < 16; ++i) {
        const int quant = ((low[i] >> low_shift) & 15) | ((high[i] >> high_shift) & 3) << 4;
        out[scale * 16 + i] = step * static_cast<float>(quant - 32);
      }
    }
  }
}

// d, high bits of the scales [2], their low bits [4], nibbles [128].
void IQ4XS(const uint8_t* HWY_RESTRICT at, int64_t blocks, float* HWY_RESTRICT out) {
  for (int64_t block = 0; block < blocks; ++block, at += 136, out += kSuper) {
    const float d = ReadHalf(at);
    for (int64_t part = 0; part < kParts; ++part) {
      const int low = (at[4 + part / 2] >> (part % 2 * 4)) & 15;
      const int high = (at[2 + part / 4] >> (part % 4 * 2)) & 3;
      const float step = d * static_cast<float>((low | high << 4) - 32);
      const uint8_t* quants = at + 8 + part * 16;
      for (int64_t i = 0; i < 16; ++i) {
        out[part * kPart + i] = step * static_cast<float>(kNonLinearValues[quants[i] & 15]);
        out[part * kPart + 16 + i] = step * static_cast<float>(kNonLinearValues[quants[i] >> 4]);
      }
    }
  }
}

void DequantiseSuper(BlockType type, const uint8_t* from, int64_t count, float* out) {
  switch (type) {
    case BlockType::kQ2_K:
      return Q2K(from, count, out);
    case BlockType::kQ3_K:
      return Q3K(from, count, out);
    case BlockType::kQ4_K:
      return Q45K<false>(from, count, out);
    case BlockType::kQ5_K:
      return Q45K<true>(from, count, out);
    case BlockType::kQ6_K:
      return Q6K(from, count, out);
    case BlockType::kIQ4_XS:
      return IQ4XS(from, count, out);
    default:
      return;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(DequantiseSuper);

void DequantiseSuperBlocks(BlockType type, const uint8_t* blocks, int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(DequantiseSuper)(type, blocks, count, out);
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
