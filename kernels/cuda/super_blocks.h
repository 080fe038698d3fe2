// SPDX-License-Identifier: MIT
// Formats with blocks of 256 elements, in which the scales of each 16 or 32 elements are quantised
// themselves; see block_formats.h.
#pragma once

#include <cstdint>

#include "kernels/cuda/block_bits.h"
#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"

namespace midscope::kernels::cuda {

// Blocks of 256 elements in two halves. Each of the 32 bytes of a half contains one element of each
// of 4 parts of 32 elements.
template <BlockType type, int64_t bytes>
struct QuartersOf : BlockOf<type, 256, bytes> {
  static constexpr int kBundles = 8;
  static constexpr int kGroups = 4;
  static constexpr bool kHasStep = true;
  static constexpr bool kHasMinimum = false;
  MIDSCOPE_CUDA_BODY static int Half(int bundle) { return bundle / 4; }
  // Returns the offset of the bundle's 8 bytes within the bytes of its half.
  MIDSCOPE_CUDA_BODY static int Offset(int bundle) { return bundle % 4 * 8; }
  // Returns the index of the scale of the 16 elements to which the group belongs.
  MIDSCOPE_CUDA_BODY static int Scale(int bundle, int group) {
    return Half(bundle) * 8 + group * 2 + bundle % 4 / 2;
  }
  MIDSCOPE_CUDA_BODY static int First(int bundle, int group) {
    return Half(bundle) * 128 + group * 32 + Offset(bundle);
  }
};

// Block layout: scales and minima [16] as nibbles, 2-bit quants [64], d and dmin, their factors.
struct Q2K : QuartersOf<BlockType::kQ2_K, 84> {
  static constexpr bool kHasMinimum = true;
  struct Bits {
    Eight quants;
    uint32_t scales;  // d and the minimum of d
    uint8_t of_group[kGroups];
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    Bits bits;
    bits.quants = ReadEight<kAligned>(block.together + 16 + At(Half(bundle), 32) + Offset(bundle));
    bits.scales = ReadNumber<uint32_t>(block.apart);
    MIDSCOPE_CUDA_UNROLL for (int group = 0; group < kGroups; ++group) {
      bits.of_group[group] = ReadNumber<uint8_t>(block.together + Scale(bundle, group));
    }
    return bits;
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    CentredBytes(bits.quants, At(group, 2), 3, 0, numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int group) {
    return LowOf<Float16>(bits.scales) * Centred(bits.of_group[group] & 15, 0);
  }
  MIDSCOPE_CUDA_BODY static float Minimum(const Bits& bits, int group) {
    return -HighOf<Float16>(bits.scales) * Centred(bits.of_group[group] >> 4, 0);
  }
};

// Block layout: one high bit [32] and two low bits [64] of each element, 6-bit scales [12], scale
// d.
struct Q3K : QuartersOf<BlockType::kQ3_K, 110> {
  struct Bits {
    Eight quants;
    Eight high;  // in each byte, bit g: group g of half 0, bit 4 + g: of half 1
    Float16 d;
    uint8_t low_scale[kGroups];
    uint8_t high_scale[kGroups];
    int bundle;
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    Bits bits;
    bits.quants = ReadEight<kAligned>(block.together + 32 + At(Half(bundle), 32) + Offset(bundle));
    bits.high = ReadEight<kAligned>(block.together + Offset(bundle));
    bits.d = ReadHalf(block.apart + 12);
    MIDSCOPE_CUDA_UNROLL for (int group = 0; group < kGroups; ++group) {
      const int i = Scale(bundle, group);
      bits.low_scale[group] = ReadNumber<uint8_t>(block.apart + i % 8);
      bits.high_scale[group] = ReadNumber<uint8_t>(block.apart + 8 + i % 4);
    }
    bits.bundle = bundle;
    return bits;
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    const Eight high = bits.high.Fields(Half(bits.bundle) * 4 + group, 1);
    CentredBytes(bits.quants.Fields(At(group, 2), 3).Below(high, 2), 0, 7, 4, numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int group) {
    const int i = Scale(bits.bundle, group);
    const uint32_t low = (bits.low_scale[group] >> (i / 8 * 4)) & 15;
    const uint32_t high = (bits.high_scale[group] >> (i / 4 * 2)) & 3;
    return FloatOf(bits.d) * Centred(low | high << 4, 32);
  }
};

// Block layout: nibbles [128], two high bits of each element [64], signed scales [16], scale d.
struct Q6K : QuartersOf<BlockType::kQ6_K, 210> {
  struct Bits {
    Eight low[2];  // nibbles of groups 0 and 2, and of groups 1 and 3
    Eight high;
    Float16 d;
    uint8_t scale[kGroups];
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    Bits bits;
    const uint8_t* low = block.together + At(Half(bundle), 64) + Offset(bundle);
    bits.low[0] = ReadEight<kAligned>(low);
    bits.low[1] = ReadEight<kAligned>(low + 32);
    bits.high = ReadEight<kAligned>(block.together + 128 + At(Half(bundle), 32) + Offset(bundle));
    bits.d = ReadHalf(block.apart);
    MIDSCOPE_CUDA_UNROLL for (int group = 0; group < kGroups; ++group) {
      bits.scale[group] = ReadNumber<uint8_t>(block.together + 192 + Scale(bundle, group));
    }
    return bits;
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    const Eight high = bits.high.Fields(At(group, 2), 3);
    CentredBytes(bits.low[group % 2].Fields(At(group / 2, 4), 15).Below(high, 4), 0, 63, 32,
                 numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int group) {
    return FloatOf(bits.d) * Centred(uint32_t{bits.scale[group]} ^ 128, 128);
  }
};

// Block layout in GPU memory: (fifth bits [32],) nibbles [128]; d and dmin, the factors of scales
// and minima; two scales, two minima, two scales, ...
template <BlockType type, bool kFiveBits>
struct Q45K : BlockOf<type, 256, kFiveBits ? 176 : 144> {
  using BlockOf<type, 256, kFiveBits ? 176 : 144>::kAligned;
  static constexpr int kBundles = 16;
  static constexpr int kGroups = 2;
  static constexpr bool kHasStep = true;
  static constexpr bool kHasMinimum = true;
  struct Bits {
    Eight quants;
    Eight fifth;      // in each byte, bit i belongs to the i-th part of 32 elements
    uint32_t d;       // d and the minimum of d
    uint32_t scales;  // scales, minima of the bundle's two groups
    int quarter;      // index of the bundle's 64 elements
  };
  MIDSCOPE_CUDA_BODY static int First(int bundle, int group) {
    return bundle / 4 * 64 + group * 32 + bundle % 4 * 8;
  }
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    const int offset = bundle % 4 * 8;
    Bits bits;
    bits.quarter = bundle / 4;
    const int quants = (kFiveBits ? 32 : 0) + At(bits.quarter, 32) + offset;
    bits.quants = ReadEight<kAligned>(block.together + quants);
    if constexpr (kFiveBits) bits.fifth = ReadEight<kAligned>(block.together + offset);
    bits.d = ReadNumber<uint32_t>(block.apart);
    bits.scales = ReadNumber<uint32_t>(block.apart + 4 + At(bits.quarter, 4));
    return bits;
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    if constexpr (kFiveBits) {
      const Eight fifth = bits.fifth.Fields(bits.quarter * 2 + group, 1);
      CentredBytes(bits.quants.Fields(At(group, 4), 15).Below(fifth, 4), 0, 31, 0, numbers);
    } else {
      CentredBytes(bits.quants, At(group, 4), 15, 0, numbers);
    }
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int group) {
    return LowOf<Float16>(bits.d) * CentredField(bits.scales, At(group, 8), 63, 0);
  }
  MIDSCOPE_CUDA_BODY static float Minimum(const Bits& bits, int group) {
    return -HighOf<Float16>(bits.d) * CentredField(bits.scales, At(group, 8, 16), 63, 0);
  }
};

struct Q4K : Q45K<BlockType::kQ4_K, false> {};
struct Q5K : Q45K<BlockType::kQ5_K, true> {};

// Block layout: scale d, high bits of the scales [2], low bits of the scales [4], nibbles [128] (32
// elements in 16 bytes), which are indices of unevenly spaced values.
struct IQ4XS : BlockOf<BlockType::kIQ4_XS, 256, 136> {
  static constexpr int kBundles = 16;
  static constexpr int kGroups = 2;
  static constexpr bool kHasStep = true;
  static constexpr bool kHasMinimum = false;
  struct Bits {
    Eight quants;
    Float16 d;
    uint8_t low_scales;    // of two parts
    uint16_t high_scales;  // of all parts
    int part;
  };
  MIDSCOPE_CUDA_BODY static int First(int bundle, int group) {
    return bundle / 2 * 32 + group * 16 + bundle % 2 * 8;
  }
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& of, int bundle) {
    const uint8_t* block = of.together;
    const int part = bundle / 2;
    return {ReadEight<kAligned>(block + 8 + At(bundle, 8)), ReadHalf(block),
            ReadNumber<uint8_t>(block + 4 + part / 2), ReadNumber<uint16_t>(block + 2), part};
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int /*group*/) {
    const uint32_t low = (bits.low_scales >> (bits.part % 2 * 4)) & 15;
    const uint32_t high = (bits.high_scales >> (bits.part * 2)) & 3;
    return FloatOf(bits.d) * Centred(low | high << 4, 32);
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    constexpr NibbleTable kTable(kNonLinearValues);
    TableNumbers(kTable, bits.quants, group, numbers);
  }
};

// Block layout: ternary digits of 2 bits each [64], scale d.
struct TQ20 : QuartersOf<BlockType::kTQ2_0, 66> {
  struct Bits {
    Eight quants;
    Float16 d;
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    return {ReadEight<kAligned>(block.together + At(bundle, 8)), ReadHalf(block.apart)};
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    CentredBytes(bits.quants, At(group, 2), 3, 1, numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int /*group*/) { return FloatOf(bits.d); }
};

// Block layout: bytes [48] with five ternary digits each, bytes [4] with four, scale d (see TQ10 in
// super_blocks-inl.h). A bundle has one digit of each of 8 bytes, or two of each of the last 4.
struct TQ10 : BlockOf<BlockType::kTQ1_0, 256, 54> {
  static constexpr int kBundles = 32;
  static constexpr int kGroups = 1;
  static constexpr bool kHasStep = true;
  static constexpr bool kHasMinimum = false;
  struct Bits {
    Eight bytes;
    Float16 d;
    uint8_t power[2];  // of three, for each half
  };
  MIDSCOPE_CUDA_BODY static int First(int bundle, int /*group*/) { return bundle * 8; }
  MIDSCOPE_CUDA_BODY static uint8_t Power(int digit) {
    return static_cast<uint8_t>(static_cast<uint64_t>(0x511b090301) >> (digit * 8));
  }
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    Bits bits;
    bits.d = ReadHalf(block.apart);
    if (bundle < 30) {
      const bool of_32 = bundle < 20;
      const int digit = of_32 ? bundle / 4 : bundle / 2 - 10;
      bits.bytes =
          ReadEight<kAligned>(block.together + (of_32 ? bundle % 4 * 8 : 32 + bundle % 2 * 8));
      bits.power[0] = bits.power[1] = Power(digit);
    } else {
      bits.bytes.word[0] = bits.bytes.word[1] = ReadWord<kAligned>(block.together + 48);
      bits.power[0] = Power(bundle % 2 * 2);
      bits.power[1] = Power(bundle % 2 * 2 + 1);
    }
    return bits;
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int /*group*/, float* numbers) {
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
      const uint32_t shifted = bits.bytes.Field(i, 0, 255) * bits.power[i / 4] & 255;
      numbers[i] = Centred(shifted * 3 >> 8, 1);
    }
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int /*group*/) { return FloatOf(bits.d); }
};

}  // namespace midscope::kernels::cuda
