// SPDX-License-Identifier: MIT
// Formats with blocks of 256 elements, which are entries of a code book (code_books.h) with signs
// or shifts, times a scale for each 16 or 32 elements; see block_formats.h. A bundle is a part of
// 32 elements, a group is an entry of 8 or two of 4.
#pragma once

#include <cstdint>

#include "kernels/cuda/block_bits.h"
#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"
#include "kernels/quantised/code_books.h"

namespace midscope::kernels::cuda {

template <BlockType type, int64_t bytes>
struct CodedOf : BlockOf<type, 256, bytes> {
  static constexpr int kBundles = 8;
  static constexpr int kGroups = 4;
  static constexpr bool kHasStep = true;
  static constexpr bool kHasMinimum = false;
  MIDSCOPE_CUDA_BODY static int First(int bundle, int group) { return bundle * 32 + group * 8; }
};

// Reads entry `index` of a code book with entries of 8 elements.
template <int kCount>
MIDSCOPE_CUDA_BODY Eight EntryOf(const CodeBook<kCount, 8>& book, uint32_t index) {
  return ReadEight<8>(reinterpret_cast<const uint8_t*>(book.entries[index]));
}

// Reads two entries of a code book with entries of 4 elements.
template <int kCount>
MIDSCOPE_CUDA_BODY Eight EntriesOf(const CodeBook<kCount, 4>& book, uint32_t first,
                                   uint32_t second) {
  return {{ReadWord<4>(reinterpret_cast<const uint8_t*>(book.entries[first])),
           ReadWord<4>(reinterpret_cast<const uint8_t*>(book.entries[second]))}};
}

// Computes 8 numbers from their magnitudes; bit i of `signs` negates number i.
MIDSCOPE_CUDA_BODY void SignedNumbers(Eight magnitudes, uint32_t signs, float* numbers) {
  const Eight negative = BitsToBytes(signs);
  MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 2; ++i) {
    // Each byte: 128 + magnitude, or its complement plus one, which is 128 - magnitude.
    const uint32_t above = magnitudes.word[i] | 128 * kEveryByte;
    magnitudes.word[i] = (above ^ negative.word[i] * 255) + negative.word[i];
  }
  CentredBytes(magnitudes, 0, 255, 128, numbers);
}

// Computes the 8 elements of entry `index` of kIQ1Book, minus 1 if `down` is not 0, else plus 1.
MIDSCOPE_CUDA_BODY void ShiftedNumbers(uint32_t index, uint32_t down, float* numbers) {
  Eight entry = EntryOf(kIQ1Book, index);
  const uint32_t shift = down != 0 ? 0 - kEveryByte : kEveryByte;
  MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 2; ++i) {
    entry.word[i] = (entry.word[i] ^ 128 * kEveryByte) + shift;  // 128 plus the number
  }
  CentredBytes(entry, 0, 255, 128, numbers);
}

// Returns the step d * (2 * scale + 1) * unit.
MIDSCOPE_CUDA_BODY float OddStep(Float16 d, float unit, uint32_t scale) {
  return FloatOf(d) * unit * Centred(2 * scale + 1, 0);
}

// Returns a group's step for IQ2_XS and IQ2_S; `scales` has a nibble per half of the part.
MIDSCOPE_CUDA_BODY float NibbleStep(Float16 d, uint32_t scales, int group) {
  return OddStep(d, 0.125f, scales >> At(group / 2, 4) & 15);
}

// Block layout: scale d; per part of 32 elements, four indices [4], then four times seven signs and
// a scale in 32 bits.
struct IQ2XXS : CodedOf<BlockType::kIQ2_XXS, 66> {
  struct Bits {
    Eight codes;
    Float16 d;
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    return {ReadEight<kAligned>(block.together + At(bundle, 8)), ReadHalf(block.apart)};
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    SignedNumbers(EntryOf(kIQ2XXSBook, bits.codes.Field(group, 0, 255)),
                  SignsOfSevens(bits.codes.word[1]) >> At(group, 8), numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int /*group*/) {
    return OddStep(bits.d, 0.125f, bits.codes.word[1] >> 28);
  }
};

// Block layout: scale d, indices [32] of 9 bits with seven signs each, scales [8] as nibbles.
struct IQ2XS : CodedOf<BlockType::kIQ2_XS, 74> {
  struct Bits {
    Eight codes;
    Float16 d;
    uint8_t scales;
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    return {ReadEight<kAligned>(block.together + At(bundle, 8)), ReadHalf(block.apart),
            ReadNumber<uint8_t>(block.together + 64 + bundle)};
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    const uint32_t code = bits.codes.word[group / 2] >> At(group % 2, 16);
    SignedNumbers(EntryOf(kIQ2XSBook, code & 511), WithEighthSigns(code >> 9 & 127), numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int group) {
    return NibbleStep(bits.d, bits.scales, group);
  }
};

// Block layout: scale d, low bytes of the indices [32], signs [32], two high bits of each index
// [8], scales [8] as nibbles.
struct IQ2S : CodedOf<BlockType::kIQ2_S, 82> {
  struct Bits {
    uint32_t low;
    uint32_t signs;
    Float16 d;
    uint8_t high;
    uint8_t scales;
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    const uint8_t* indices = block.together + At(bundle, 4);
    return {ReadWord<kAligned>(indices), ReadWord<kAligned>(indices + 32), ReadHalf(block.apart),
            ReadNumber<uint8_t>(block.together + 64 + bundle),
            ReadNumber<uint8_t>(block.together + 72 + bundle)};
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    const uint32_t low = bits.low >> At(group, 8) & 255;
    const uint32_t high = uint32_t{bits.high} >> At(group, 2) & 3;
    SignedNumbers(EntryOf(kIQ2SBook, low | high << 8), bits.signs >> At(group, 8), numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int group) {
    return NibbleStep(bits.d, bits.scales, group);
  }
};

// Block layout: scale d, indices [64]; per part, four times seven signs and a scale in 32 bits.
struct IQ3XXS : CodedOf<BlockType::kIQ3_XXS, 98> {
  struct Bits {
    Eight indices;
    uint32_t rest;
    Float16 d;
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    return {ReadEight<kAligned>(block.together + At(bundle, 8)),
            ReadWord<kAligned>(block.together + 64 + At(bundle, 4)), ReadHalf(block.apart)};
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    const int first = At(group, 2);
    SignedNumbers(EntriesOf(kIQ3XXSBook, bits.indices.Field(first, 0, 255),
                            bits.indices.Field(first + 1, 0, 255)),
                  SignsOfSevens(bits.rest) >> At(group, 8), numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int /*group*/) {
    return OddStep(bits.d, 0.25f, bits.rest >> 28);
  }
};

// Block layout: scale d, low bytes [64] and high bits [8] of the indices, signs [32], nibble scales
// [4].
struct IQ3S : CodedOf<BlockType::kIQ3_S, 110> {
  struct Bits {
    Eight low;
    uint32_t signs;
    Float16 d;
    uint8_t high;
    uint8_t scales;  // scales of two parts
    int part;
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    return {ReadEight<kAligned>(block.together + At(bundle, 8)),
            ReadWord<kAligned>(block.together + 72 + At(bundle, 4)),
            ReadHalf(block.apart),
            ReadNumber<uint8_t>(block.together + 64 + bundle),
            ReadNumber<uint8_t>(block.together + 104 + bundle / 2),
            bundle};
  }
  MIDSCOPE_CUDA_BODY static uint32_t Index(const Bits& bits, int i) {
    return bits.low.Field(i, 0, 255) | (uint32_t{bits.high} >> i & 1) << 8;
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    const int first = At(group, 2);
    SignedNumbers(EntriesOf(kIQ3SBook, Index(bits, first), Index(bits, first + 1)),
                  bits.signs >> At(group, 8), numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int /*group*/) {
    return OddStep(bits.d, 1.0f, uint32_t{bits.scales} >> (bits.part % 2 * 4) & 15);
  }
};

// Block layout: scale d, low bytes of the indices [32]; per part of 32 elements, in 16 bits, three
// high bits per index, a scale and the sign of the shift.
struct IQ1S : CodedOf<BlockType::kIQ1_S, 50> {
  struct Bits {
    uint32_t low;
    uint16_t rest;
    Float16 d;
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    return {ReadWord<kAligned>(block.together + At(bundle, 4)),
            ReadNumber<uint16_t>(block.together + 32 + At(bundle, 2)), ReadHalf(block.apart)};
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    const uint32_t low = bits.low >> At(group, 8) & 255;
    const uint32_t high = uint32_t{bits.rest} >> At(group, 3) & 7;
    ShiftedNumbers(low | high << 8, bits.rest & 0x8000u, numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int /*group*/) {
    return OddStep(bits.d, 0.125f, uint32_t{bits.rest} >> 12 & 7);
  }
};

// Block layout: low bytes of the indices [32]; nibbles [16] with the high bits and the shift of an
// index; four 16-bit numbers with four scales of three bits each, whose highest nibbles form d.
struct IQ1M : CodedOf<BlockType::kIQ1_M, 56> {
  struct Bits {
    Eight scales;
    uint32_t low;
    uint16_t rest;
    int part;
  };
  MIDSCOPE_CUDA_BODY static Bits Read(const BlockBytes& block, int bundle) {
    return {ReadEight<kAligned>(block.together + 48),
            ReadWord<kAligned>(block.together + At(bundle, 4)),
            ReadNumber<uint16_t>(block.together + 32 + At(bundle, 2)), bundle};
  }
  MIDSCOPE_CUDA_BODY static void Numbers(const Bits& bits, int group, float* numbers) {
    const uint32_t low = bits.low >> At(group, 8) & 255;
    const uint32_t nibble = uint32_t{bits.rest} >> At(group, 4);
    ShiftedNumbers(low | (nibble & 7) << 8, nibble & 8, numbers);
  }
  MIDSCOPE_CUDA_BODY static float Step(const Bits& bits, int group) {
    const uint64_t scales = uint64_t{bits.scales.word[1]} << 32 | bits.scales.word[0];
    const auto of_parts = static_cast<uint32_t>(scales >> (bits.part / 2 * 16));
    return OddStep(Float16{SpreadHalf(scales)}, 0.125f,
                   of_parts >> (bits.part % 2 * 6 + At(group / 2, 3)) & 7);
  }
};

}  // namespace midscope::kernels::cuda
