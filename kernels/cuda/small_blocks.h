// SPDX-License-Identifier: MIT
// Formats of single numbers, and formats with blocks of 32 elements; see block_formats.h.
#pragma once

#include <cstdint>

#include "kernels/cuda/block_bits.h"
#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"

namespace midscope::kernels::cuda {

// Formats of single numbers, read 8 at a time.
template <BlockType type, class T>
struct NumbersOf : BlockOf<type, kChunk, kChunk * int64_t{sizeof(T)}> {
  static constexpr int kBundles = 1;
  static constexpr int kGroups = 1;
  static constexpr bool kHasStep = false;
  static constexpr bool kHasMinimum = false;
  struct Bits {
    float of[kChunk];
  };
  MIDSCOPE_CUDA_BODY static int First(int /*bundle*/, int /*group*/) { return 0; }
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int /*bundle*/) {
    Bits bits;
    Load(reinterpret_cast<const T*>(block.together), bits.of);
    return bits;
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int /*group*/, float* numbers) {
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) numbers[i] = bits.of[i];
  }
};

struct F32 : NumbersOf<BlockType::kF32, float> {};
struct BF16 : NumbersOf<BlockType::kBF16, BFloat16> {};
struct F16 : NumbersOf<BlockType::kF16, Float16> {};

// Base of formats with 32 elements in 16 bytes of nibbles: the low nibbles are elements 0 to 15.
template <BlockType type, int64_t bytes>
struct NibblesOf : BlockOf<type, 32, bytes> {
  static constexpr int kBundles = 2;
  static constexpr int kGroups = 2;
  static constexpr bool kHasStep = true;
  static constexpr bool kHasMinimum = false;
  MIDSCOPE_CUDA_BODY static int First(int bundle, int group) { return group * 16 + bundle * 8; }
};

// Block layout: scale d, (minimum,) (a fifth bit of each element [4],) nibbles [16].
template <BlockType type, bool kFiveBits, bool kWithMinimum>
struct Nibbles : NibblesOf<type, 18 + (kFiveBits ? 4 : 0) + (kWithMinimum ? 2 : 0)> {
  using NibblesOf<type, 18 + (kFiveBits ? 4 : 0) + (kWithMinimum ? 2 : 0)>::kAligned;
  static constexpr bool kHasMinimum = kWithMinimum;
  // Q5_1 stores step and minimum in front of the fifth bits, not separately.
  static constexpr int kFifthBits = kFiveBits && kWithMinimum ? 4 : 0;
  static constexpr int kQuants = kFifthBits + (kFiveBits ? 4 : 0);
  struct Bits {
    Eight quants;
    uint32_t fifth;   // fifth bits of the block: bit i belongs to element i
    uint32_t scales;  // binary16: first the step, then the minimum
    int bundle;
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    Bits bits;
    bits.quants = ReadEight<kAligned>(block.together + kQuants + At(bundle, 8));
    bits.fifth = 0;
    if constexpr (kFiveBits) bits.fifth = ReadWord<kAligned>(block.together + kFifthBits);
    const uint8_t* scales = kFifthBits == 0 ? block.apart : block.together;
    if constexpr (kHasMinimum) {
      bits.scales = ReadNumber<uint32_t>(scales);
    } else {
      bits.scales = ReadNumber<uint16_t>(scales);
    }
    bits.bundle = bundle;
    return bits;
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    constexpr int kZero = kHasMinimum ? 0 : kFiveBits ? 16 : 8;
    if constexpr (kFiveBits) {
      const Eight fifth = BitsToBytes(bits.fifth >> (At(group, 16) + bits.bundle * 8));
      CentredBytes(bits.quants.Fields(At(group, 4), 15).Below(fifth, 4), 0, 31, kZero, numbers);
    } else {
      CentredBytes(bits.quants, At(group, 4), 15, kZero, numbers);
    }
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int /*group*/) {
    return LowOf<Float16>(bits.scales);
  }
  MIDSCOPE_CUDA_BODY static float Minimum(const Bits& bits, int /*group*/) {
    return HighOf<Float16>(bits.scales);
  }
};

struct Q40 : Nibbles<BlockType::kQ4_0, false, false> {};
struct Q41 : Nibbles<BlockType::kQ4_1, false, true> {};
struct Q50 : Nibbles<BlockType::kQ5_0, true, false> {};
struct Q51 : Nibbles<BlockType::kQ5_1, true, true> {};

// Block layout: scale d, signed bytes [32].
struct Q80 : BlockOf<BlockType::kQ8_0, 32, 34> {
  static constexpr int kBundles = 4;
  static constexpr int kGroups = 1;
  static constexpr bool kHasStep = true;
  static constexpr bool kHasMinimum = false;
  struct Bits {
    Eight quants;
    Float16 step;
  };
  MIDSCOPE_CUDA_BODY static int First(int bundle, int /*group*/) { return bundle * 8; }
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    return {ReadEight<kAligned>(block.together + At(bundle, 8)), ReadHalf(block.apart)};
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int /*group*/, float* numbers) {
    constexpr uint32_t kSigns = 128 * kEveryByte;
    const Eight unsigned_bytes = {{bits.quants.word[0] ^ kSigns, bits.quants.word[1] ^ kSigns}};
    CentredBytes(unsigned_bytes, 0, 255, 128, numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int /*group*/) {
    return FloatOf(bits.step);
  }
};

// Block layout: scale d, nibbles [16], which are indices of unevenly spaced values.
struct IQ4NL : NibblesOf<BlockType::kIQ4_NL, 18> {
  struct Bits {
    Eight quants;
    Float16 step;
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    return {ReadEight<kAligned>(block.together + At(bundle, 8)), ReadHalf(block.apart)};
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int /*group*/) {
    return FloatOf(bits.step);
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    constexpr NibbleTable kTable(kNonLinearValues);
    TableNumbers(kTable, bits.quants, group, numbers);
  }
};

// Block layout: an exponent, nibbles [16], which are floating-point numbers with one mantissa bit.
struct MXFP4 : NibblesOf<BlockType::kMXFP4, 17> {
  struct Bits {
    Eight quants;
    uint8_t exponent;
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    return {ReadEight<kAligned>(block.together + At(bundle, 8)), ReadNumber<uint8_t>(block.apart)};
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int /*group*/) {
    return HalfOfE8M0(bits.exponent);
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    constexpr NibbleTable kTable(kE2M1Values);
    TableNumbers(kTable, bits.quants, group, numbers);
  }
};

}  // namespace midscope::kernels::cuda
