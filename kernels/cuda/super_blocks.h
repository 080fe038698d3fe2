// SPDX-License-Identifier: MIT
// The formats with blocks of 256 elements: scales of 16 or 32 elements that are quantised
// themselves; see block_formats.h.
#pragma once

#include <cstdint>

#include "kernels/cuda/block_bits.h"
#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"

namespace midscope::kernels::cuda {

// Blocks of 256 elements in halves: bytes [32] of a half have an element of each of 4 parts of 32.
template <BlockType type, int64_t bytes>
struct QuartersOf : BlockOf<type, 256, bytes> {
  static constexpr int kBundles = 8;
  static constexpr int kGroups = 4;
  static constexpr bool kHasStep = true;
  static constexpr bool kHasMinimum = false;
  MIDSCOPE_CUDA_BODY static int Half(int bundle) { return bundle / 4; }
  // Of the bundle's bytes in those of a half.
  MIDSCOPE_CUDA_BODY static int Offset(int bundle) { return bundle % 4 * 8; }
  // Of the scale of 16 elements to which a group belongs.
  MIDSCOPE_CUDA_BODY static int Scale(int bundle, int group) {
    return Half(bundle) * 8 + group * 2 + bundle % 4 / 2;
  }
  MIDSCOPE_CUDA_BODY static int First(int bundle, int group) {
    return Half(bundle) * 128 + group * 32 + Offset(bundle);
  }
};

// Scales and minima [16] as nibbles, quants of 2 bits [64], d, minimum of d.
struct Q2K : QuartersOf<BlockType::kQ2_K, 84> {
  static constexpr bool kHasMinimum = true;
  struct Bits {
    Eight quants;
    float step[kGroups];
    float minimum[kGroups];
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    Bits bits;
    bits.quants = ReadEight<kAligned>(block.together + 16 + At(Half(bundle), 32) + Offset(bundle));
    const auto both = ReadNumber<uint32_t>(block.apart);
    const float d = LowOf<Float16>(both);
    const float minimum = -HighOf<Float16>(both);
    MIDSCOPE_CUDA_UNROLL for (int group = 0; group < kGroups; ++group) {
      const uint32_t scale = ReadNumber<uint8_t>(block.together + Scale(bundle, group));
      bits.step[group] = d * Centred(scale & 15, 0);
      bits.minimum[group] = minimum * Centred(scale >> 4, 0);
    }
    return bits;
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    CentredBytes(bits.quants, At(group, 2), 3, 0, numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int group) { return bits.step[group]; }
  MIDSCOPE_CUDA_BODY static float Minimum(const Bits& bits, int group) {
    return bits.minimum[group];
  }
};

// High bits [32], low bits of 2 [64], scales of 6 bits [12], d.
struct Q3K : QuartersOf<BlockType::kQ3_K, 110> {
  struct Bits {
    Eight quants;
    Eight high;  // bit g of a byte: of group g
    float step[kGroups];
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    Bits bits;
    bits.quants = ReadEight<kAligned>(block.together + 32 + At(Half(bundle), 32) + Offset(bundle));
    bits.high = ReadEight<kAligned>(block.together + Offset(bundle));
    MIDSCOPE_CUDA_UNROLL for (uint32_t& word : bits.high.word) word >>= Half(bundle) * 4;
    const float d = ReadHalf(block.apart + 12);
    MIDSCOPE_CUDA_UNROLL for (int group = 0; group < kGroups; ++group) {
      const int i = Scale(bundle, group);
      const uint32_t low = (ReadNumber<uint8_t>(block.apart + i % 8) >> (i / 8 * 4)) & 15;
      const uint32_t high = (ReadNumber<uint8_t>(block.apart + 8 + i % 4) >> (i / 4 * 2)) & 3;
      bits.step[group] = d * Centred(low | high << 4, 32);
    }
    return bits;
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    const Eight high = bits.high.Fields(group, 1);
    CentredBytes(bits.quants.Fields(At(group, 2), 3).Below(high, 2), 0, 7, 4, numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int group) { return bits.step[group]; }
};

// Nibbles [128], high bits of 2 [64], signed scales [16], d.
struct Q6K : QuartersOf<BlockType::kQ6_K, 210> {
  struct Bits {
    Eight low[2];  // nibbles of groups 0 and 2, of 1 and 3
    Eight high;
    float step[kGroups];
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    Bits bits;
    const uint8_t* low = block.together + At(Half(bundle), 64) + Offset(bundle);
    bits.low[0] = ReadEight<kAligned>(low);
    bits.low[1] = ReadEight<kAligned>(low + 32);
    bits.high = ReadEight<kAligned>(block.together + 128 + At(Half(bundle), 32) + Offset(bundle));
    const float d = ReadHalf(block.apart);
    MIDSCOPE_CUDA_UNROLL for (int group = 0; group < kGroups; ++group) {
      const uint32_t scale = ReadNumber<uint8_t>(block.together + 192 + Scale(bundle, group));
      bits.step[group] = d * Centred(scale ^ 128, 128);
    }
    return bits;
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    const Eight high = bits.high.Fields(At(group, 2), 3);
    CentredBytes(bits.low[group % 2].Fields(At(group / 2, 4), 15).Below(high, 4), 0, 63, 32,
                 numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int group) { return bits.step[group]; }
};

// d, minimum of d, eight scales and eight minima of 6 bits [12], (fifth bits [32],) nibbles [128].
template <BlockType type, bool kFiveBits>
struct Q45K : BlockOf<type, 256, kFiveBits ? 176 : 144> {
  using BlockOf<type, 256, kFiveBits ? 176 : 144>::kAligned;
  static constexpr int kBundles = 16;
  static constexpr int kGroups = 2;
  static constexpr bool kHasStep = true;
  static constexpr bool kHasMinimum = true;
  struct Bits {
    Eight quants;
    Eight fifth;  // bit g of a byte: of group g
    float step[kGroups];
    float minimum[kGroups];
  };
  MIDSCOPE_CUDA_BODY static int First(int bundle, int group) {
    return bundle / 4 * 64 + group * 32 + bundle % 4 * 8;
  }
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& of, int bundle) {
    const uint8_t* block = of.together;
    const int quarter = bundle / 4;  // of 64 elements: two scales
    const int offset = bundle % 4 * 8;
    Bits bits;
    bits.quants = ReadEight<kAligned>(block + (kFiveBits ? 48 : 16) + At(quarter, 32) + offset);
    if constexpr (kFiveBits) {
      bits.fifth = ReadEight<kAligned>(block + 16 + offset);
      MIDSCOPE_CUDA_UNROLL for (uint32_t& word : bits.fifth.word) word >>= quarter * 2;
    }
    // Four 6-bit numbers at a time, one in each byte.
    const auto scales_of_first = ReadNumber<uint32_t>(block + 4);
    const auto minima_of_first = ReadNumber<uint32_t>(block + 8);
    const auto low = ReadNumber<uint32_t>(block + 12);
    const bool first = quarter < 2;
    const uint32_t scales = first ? scales_of_first & 0x3f3f3f3fu
                                  : (low & 0x0f0f0f0fu) | ((scales_of_first >> 2) & 0x30303030u);
    const uint32_t minima =
        first ? minima_of_first & 0x3f3f3f3fu
              : ((low >> 4) & 0x0f0f0f0fu) | ((minima_of_first >> 2) & 0x30303030u);
    const float d = ReadHalf(block);
    const float minimum = -ReadHalf(block + 2);
    MIDSCOPE_CUDA_UNROLL for (int group = 0; group < kGroups; ++group) {
      const int shift = quarter % 2 * 16 + group * 8;
      bits.step[group] = d * Centred((scales >> shift) & 63, 0);
      bits.minimum[group] = minimum * Centred((minima >> shift) & 63, 0);
    }
    return bits;
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    if constexpr (kFiveBits) {
      const Eight fifth = bits.fifth.Fields(group, 1);
      CentredBytes(bits.quants.Fields(At(group, 4), 15).Below(fifth, 4), 0, 31, 0, numbers);
    } else {
      CentredBytes(bits.quants, At(group, 4), 15, 0, numbers);
    }
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int group) { return bits.step[group]; }
  MIDSCOPE_CUDA_BODY static float Minimum(const Bits& bits, int group) {
    return bits.minimum[group];
  }
};

struct Q4K : Q45K<BlockType::kQ4_K, false> {};
struct Q5K : Q45K<BlockType::kQ5_K, true> {};

// d, high bits of the scales [2], their low bits [4], nibbles [128] that stand for unevenly spaced
// values: parts of 32 elements in 16 bytes.
struct IQ4XS : BlockOf<BlockType::kIQ4_XS, 256, 136> {
  static constexpr int kBundles = 16;
  static constexpr int kGroups = 2;
  static constexpr bool kHasStep = true;
  static constexpr bool kHasMinimum = false;
  using Bits = TableBits;
  MIDSCOPE_CUDA_BODY static int First(int bundle, int group) {
    return bundle / 2 * 32 + group * 16 + bundle % 2 * 8;
  }
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& of, int bundle) {
    const uint8_t* block = of.together;
    const int part = bundle / 2;
    const uint32_t low = (ReadNumber<uint8_t>(block + 4 + part / 2) >> (part % 2 * 4)) & 15;
    const uint32_t high = (ReadNumber<uint16_t>(block + 2) >> (part * 2)) & 3;
    return {ReadEight<kAligned>(block + 8 + At(bundle, 8)),
            ReadHalf(block) * Centred(low | high << 4, 32)};
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int /*group*/) { return bits.step; }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    constexpr NibbleTable kTable(kNonLinearValues);
    TableNumbers(kTable, bits, group, numbers);
  }
};

}  // namespace midscope::kernels::cuda
