// SPDX-License-Identifier: MIT
// The numbers in blocks of GGUF's formats, in scalar code that both the CPU's vectors
// (block_parts-inl.h) and GPUs (cuda/block_formats.h) use.
#pragma once

#include <bit>
#include <cstdint>

namespace midscope::kernels {

// The values of IQ4_NL's and IQ4_XS's nibbles.
inline constexpr int8_t kNonLinearValues[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                1,    13,   25,  38,  53,  69,  89,  113};

// Twice the values of MXFP4's nibbles (E2M1: OCP Microscaling Formats 1.0, 5.3.3).
inline constexpr int8_t kE2M1Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Returns half of the value of an exponent byte (E8M0); it is subnormal for the smallest exponents.
constexpr float HalfOfE8M0(uint8_t exponent) {
  const uint32_t bits =
      exponent < 2 ? 0x00200000u << exponent : (static_cast<uint32_t>(exponent) - 1) << 23;
  return std::bit_cast<float>(bits);
}

}  // namespace midscope::kernels
