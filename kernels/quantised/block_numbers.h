// SPDX-License-Identifier: MIT
// The numbers in blocks of GGUF's formats, one by one: plain code for vectors of the CPU
// (block_parts-inl.h) and for GPUs (cuda/block_formats.h).
#pragma once

#include <bit>
#include <cstdint>

namespace midscope::kernels {

// The values of the nibbles of IQ4_NL and IQ4_XS.
inline constexpr int8_t kNonLinearValues[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                1,    13,   25,  38,  53,  69,  89,  113};

// Twice the values of the nibbles of MXFP4 (E2M1: OCP Microscaling Formats 1.0, 5.3.3).
inline constexpr int8_t kE2M1Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Half of the value of a byte's exponent (E8M0), which is subnormal at the small end.
constexpr float HalfOfE8M0(uint8_t exponent) {
  const uint32_t bits =
      exponent < 2 ? 0x00200000u << exponent : (static_cast<uint32_t>(exponent) - 1) << 23;
  return std::bit_cast<float>(bits);
}

}  // namespace midscope::kernels
