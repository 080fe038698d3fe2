// SPDX-License-Identifier: MIT
// Functions to unpack the small integers of quantised blocks on a GPU; see block_formats.h.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/check.h"
#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/device_rows.h"
#include "kernels/cuda/machine.h"
#include "kernels/quantised/block_numbers.h"
#include "kernels/quantised/dequantise.h"

namespace midscope::kernels::cuda {

// Reads a number at an address that is a multiple of sizeof(Number).
template <class Number>
MIDSCOPE_CUDA_BODY Number ReadNumber(const uint8_t* at) {
#ifdef __CUDACC__
  return __ldg(reinterpret_cast<const Number*>(at));
#else
  MIDSCOPE_CHECK(reinterpret_cast<uintptr_t>(at) % sizeof(Number) == 0, "not aligned");
  Number number;
  std::memcpy(&number, at, sizeof(number));
  return number;
#endif
}

// Reads 4 bytes at an address that is a multiple of kAligned; the first byte is in the lowest bits.
template <int kAligned>
MIDSCOPE_CUDA_BODY uint32_t ReadWord(const uint8_t* at) {
  if constexpr (kAligned >= 4) {
    return ReadNumber<uint32_t>(at);
  } else {
    constexpr int kBits = kAligned * 8;
    uint32_t word = 0;
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4 / kAligned; ++i) {
      if constexpr (kAligned == 2) {
        word |= uint32_t{ReadNumber<uint16_t>(at + At(i, 2))} << At(i, kBits);
      } else {
        word |= uint32_t{ReadNumber<uint8_t>(at + i)} << At(i, kBits);
      }
    }
    return word;
  }
}

// byte * kEveryByte is a word with four copies of the byte.
constexpr uint32_t kEveryByte = 0x01010101;

// 8 bytes of a quantised block, as two words.
struct Eight {
  uint32_t word[2];

  // Returns byte i, shifted right by `bit` and masked with `mask`.
  MIDSCOPE_CUDA_BODY uint32_t Field(int i, int bit, uint32_t mask) const {
    return (word[i / 4] >> (At(i % 4, 8) + bit)) & mask;
  }
  // Returns every byte, shifted right by `bit` and masked with `mask`.
  MIDSCOPE_CUDA_BODY Eight Fields(int bit, uint32_t mask) const {
    mask *= kEveryByte;
    return {{(word[0] >> bit) & mask, (word[1] >> bit) & mask}};
  }
  // Returns each byte with the corresponding byte of `high`, shifted left by `bits`, added.
  MIDSCOPE_CUDA_BODY Eight Below(const Eight& high, int bits) const {
    return {{word[0] | high.word[0] << bits, word[1] | high.word[1] << bits}};
  }
};

template <int kAligned>
MIDSCOPE_CUDA_BODY Eight ReadEight(const uint8_t* at) {
  if constexpr (kAligned >= 8) {
    const auto both = ReadNumber<uint64_t>(at);
    return {{static_cast<uint32_t>(both), static_cast<uint32_t>(both >> 32)}};
  } else {
    return {{ReadWord<kAligned>(at), ReadWord<kAligned>(at + 4)}};
  }
}

// Returns 8 bytes; byte i is bit i of `bits`.
MIDSCOPE_CUDA_BODY Eight BitsToBytes(uint32_t bits) {
  // Multiplying a nibble by kSpread puts bit i of the nibble at bit 8 i; partial products do not
  // overlap at these bits.
  constexpr uint32_t kSpread = 0x00204081;
  return {{(bits & 15) * kSpread & kEveryByte, ((bits >> 4) & 15) * kSpread & kEveryByte}};
}

MIDSCOPE_CUDA_BODY Float16 ReadHalf(const uint8_t* at) { return Float16{ReadNumber<uint16_t>(at)}; }

// Returns n - zero as an exact float, for n below 2^22, by an addition, which is faster on GPUs
// than a conversion: the float 2^23 + n has the bits of n at the end of the mantissa.
MIDSCOPE_CUDA_BODY float Centred(uint32_t n, int zero) {
  return std::bit_cast<float>(0x4b000000u | n) - (8388608.0f + static_cast<float>(zero));
}

// Returns (word & mask) | power in one instruction; nvcc would emit two for constant operands.
MIDSCOPE_CUDA_BODY uint32_t FieldUnder(uint32_t power, uint32_t word, uint32_t mask) {
#ifdef __CUDACC__
  constexpr int kAndThenOr = (0xf0 & 0xcc) | 0xaa;
  uint32_t both;
  asm("lop3.b32 %0, %1, %2, %3, %4;"
      : "=r"(both)
      : "r"(word), "r"(mask), "r"(power), "n"(kAndThenOr));
  return both;
#else
  return (word & mask) | power;
#endif
}

// Returns Centred(n, zero) for the bit field n of a word at `bit` with `mask`, both known at
// compile time, without shifting it: chooses the exponent for which the field's lowest bit has the
// value 1 in the mantissa.
MIDSCOPE_CUDA_BODY float CentredField(uint32_t word, int bit, uint32_t mask, int zero) {
  constexpr int kMantissa = 23;
  constexpr int kHigh = 16;
  if (bit + std::bit_width(mask) > kMantissa) {
    word >>= kHigh;
    bit -= kHigh;
  }
  const uint32_t power = static_cast<uint32_t>(127 + kMantissa - bit) << kMantissa;
  return std::bit_cast<float>(FieldUnder(power, word, mask << bit)) -
         (std::bit_cast<float>(power) + static_cast<float>(zero));
}

// Returns in numbers [8] for each byte the bit field at `bit` with `mask`, minus `zero`.
MIDSCOPE_CUDA_BODY void CentredBytes(const Eight& bytes, int bit, uint32_t mask, int zero,
                                     float* numbers) {
  MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
    numbers[i] = CentredField(bytes.word[i / 4], At(i % 4, 8) + bit, mask, zero);
  }
}

// Addresses of a block's data in the layout of GPU memory (device_rows.h).
struct BlockBytes {
  const uint8_t* together;
  const uint8_t* apart;
};

template <BlockType type, int64_t elements, int64_t bytes>
struct BlockOf {
  static constexpr BlockType kType = type;
  static constexpr int64_t kElements = elements;
  static constexpr int64_t kBytes = bytes;
  static constexpr int64_t kApart = BytesApartOf(type).there;
  static constexpr int64_t kTogether = bytes - BytesApartOf(type).count;
  // Alignment of the numbers in a block, in bytes.
  static constexpr int kAligned =
      static_cast<int>((kTogether & -kTogether) < 8 ? (kTogether & -kTogether) : 8);

  // Returns the i-th of the `blocks` blocks in a row.
  MIDSCOPE_CUDA_BODY static BlockBytes Block(const uint8_t* row, int64_t blocks, int64_t i) {
    return {row + i * kTogether, row + blocks * kTogether + i * kApart};
  }
};

// Returns four of the eight bytes of low (0 to 3) and high (4 to 7), as the selector's lowest 4
// nibbles state (CUDA's __byte_perm); nibbles must be at most 7.
MIDSCOPE_CUDA_BODY uint32_t Permuted(uint32_t low, uint32_t high, uint32_t selector) {
#ifdef __CUDACC__
  return __byte_perm(low, high, selector);
#else
  const uint64_t bytes = uint64_t{high} << 32 | low;
  uint32_t chosen = 0;
  for (int i = 0; i < 4; ++i) {
    chosen |= static_cast<uint32_t>(bytes >> ((selector >> At(i, 4) & 7) * 8) & 255) << At(i, 8);
  }
  return chosen;
#endif
}

// Lookup table of 16 nibble values, plus 128, four per word: GPU registers can't be indexed.
struct NibbleTable {
  uint32_t quarter[4] = {};

  explicit constexpr NibbleTable(const int8_t (&values)[16]) {
    for (int i = 0; i < 16; ++i) {
      quarter[i / 4] |= static_cast<uint32_t>(values[i] + 128) << (i % 4 * 8);
    }
  }

  // Returns the table's values (plus 128) of the lowest 4 nibbles, one byte each.
  MIDSCOPE_CUDA_BODY uint32_t Of(uint32_t nibbles) const {
    const uint32_t within_half = nibbles & 0x7777u;
    const uint32_t first = Permuted(quarter[0], quarter[1], within_half);
    const uint32_t second = Permuted(quarter[2], quarter[3], within_half);
    return Permuted(first, second, 0x3210u | (nibbles & 0x8888u) >> 1);
  }
};

// Returns in numbers [8] the table's values for a group of nibbles in `quants`.
MIDSCOPE_CUDA_BODY void TableNumbers(NibbleTable table, const Eight& quants, int group,
                                     float* numbers) {
  MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; i += 2) {
    // Looks up both nibbles of each of two bytes.
    const uint32_t four = table.Of(quants.word[i / 4] >> At(i % 4, 8));
    numbers[i] = CentredField(four, At(group, 8), 255, 128);
    numbers[i + 1] = CentredField(four, At(group, 8, 16), 255, 128);
  }
}

}  // namespace midscope::kernels::cuda
