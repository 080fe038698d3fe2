// SPDX-License-Identifier: MIT
// Decodes numbers in blocks of GGUF's formats: scalar code that both the CPU's vector code
// (block_parts-inl.h) and GPU code (cuda/block_formats.h) use.
#pragma once

#include <bit>
#include <cstdint>

namespace midscope::kernels {

// Values of the nibbles of formats IQ4_NL and IQ4_XS.
inline constexpr int8_t kNonLinearValues[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                1,    13,   25,  38,  53,  69,  89,  113};

// Values, times 2, of the nibbles of format MXFP4 (E2M1: OCP Microscaling Formats 1.0, 5.3.3).
inline constexpr int8_t kE2M1Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Returns half of the value of an exponent byte (E8M0); for the smallest exponents, a subnormal
// number.
constexpr float HalfOfE8M0(uint8_t exponent) {
  const uint32_t bits =
      exponent < 2 ? 0x00200000u << exponent : (static_cast<uint32_t>(exponent) - 1) << 23;
  return std::bit_cast<float>(bits);
}

inline constexpr uint8_t kPowersOfThree[5] = {1, 3, 9, 27, 81};

// Returns the signs of four entries of a code book, one byte each, from 7 signs per byte: the
// eighth sign makes the number of negative elements of an entry even.
constexpr uint32_t WithEighthSigns(uint32_t sevens) {
  uint32_t odd = sevens ^ (sevens >> 4);
  odd ^= odd >> 2;
  odd ^= odd >> 1;
  return sevens | (odd & 0x01010101u) << 7;
}

// Returns the signs of four code book entries, one byte each, from 7 signs each in bits 0 to 27.
constexpr uint32_t SignsOfSevens(uint32_t packed) {
  return WithEighthSigns((packed & 0x7fu) | (packed << 1 & 0x7f00u) | (packed << 2 & 0x7f0000u) |
                         (packed << 3 & 0x7f000000u));
}

// Returns the bits of a binary16 number that consists of the highest nibbles of four 16-bit
// numbers; the first of these contains the lowest nibble.
constexpr uint16_t SpreadHalf(uint64_t four) {
  return static_cast<uint16_t>((four >> 12 & 0xfu) | (four >> 24 & 0xf0u) | (four >> 36 & 0xf00u) |
                               (four >> 48 & 0xf000u));
}

}  // namespace midscope::kernels
