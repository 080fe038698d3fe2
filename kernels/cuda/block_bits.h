// SPDX-License-Identifier: MIT
// How a thread of a GPU reads the small numbers of a block; see block_formats.h.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/block_numbers.h"
#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"
#include "kernels/dequantise.h"

namespace midscope::kernels::cuda {

// A number at an address that is a multiple of its size.
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

// 4 bytes at a multiple of kAligned, the first in the lowest bits.
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

// 8 bytes of a block.
struct Eight {
  uint32_t word[2];

  // `mask` of byte i from `bit` on.
  MIDSCOPE_CUDA_BODY uint32_t Field(int i, int bit, uint32_t mask) const {
    return (word[i / 4] >> (At(i % 4, 8) + bit)) & mask;
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

MIDSCOPE_CUDA_BODY float ReadHalf(const uint8_t* at) {
  return FloatOf(Float16{ReadNumber<uint16_t>(at)});
}

// n - zero, exactly, for n below 2^22: the float of 2^23 + n has the bits of n at the end of its
// mantissa. GPUs add faster than they convert.
MIDSCOPE_CUDA_BODY float Centred(uint32_t n, int zero) {
  return std::bit_cast<float>(0x4b000000u | n) - (8388608.0f + static_cast<float>(zero));
}

// What the numbers of a block of that size lie at multiples of (or of their own size).
template <BlockType type, int64_t elements, int64_t bytes>
struct BlockOf {
  static constexpr BlockType kType = type;
  static constexpr int64_t kElements = elements;
  static constexpr int64_t kBytes = bytes;
  static constexpr int kAligned = static_cast<int>((bytes & -bytes) < 8 ? (bytes & -bytes) : 8);
};

// What 16 nibbles stand for, plus 128, 8 in each number: GPUs have no registers with an index.
struct NibbleTable {
  uint64_t half[2] = {};

  explicit constexpr NibbleTable(const int8_t (&values)[16]) {
    for (int i = 0; i < 16; ++i) {
      half[i / 8] |= static_cast<uint64_t>(static_cast<uint8_t>(values[i] + 128)) << (i % 8 * 8);
    }
  }
};

struct TableBits {
  Eight quants;
  float step;
};

// The elements of a group of nibbles.
MIDSCOPE_CUDA_BODY void TableValues(NibbleTable table, const TableBits& bits, int group,
                                    float* values) {
  MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
    const uint32_t nibble = bits.quants.Field(i, At(group, 4), 15);
    const uint64_t half = nibble < 8 ? table.half[0] : table.half[1];
    values[i] = Centred(static_cast<uint32_t>(half >> (nibble % 8 * 8)) & 255, 128) * bits.step;
  }
}

}  // namespace midscope::kernels::cuda
