// SPDX-License-Identifier: MIT
// Element types and array views of kernels: raw pointers and shapes, no tensor library.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace midscope::kernels {

// Element types. Only GPU kernels and LibTorch compute in float16; CPU kernels only convert it.
enum class Dtype { kFloat32, kBFloat16, kFloat16 };

constexpr int64_t SizeOf(Dtype dtype) { return dtype == Dtype::kFloat32 ? 4 : 2; }

// bfloat16: the upper 16 bits of a float32. Conversion rounds to nearest even; NaN stays NaN.
struct BFloat16 {
  uint16_t bits = 0;
};

constexpr float ToFloat(BFloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

constexpr BFloat16 ToBFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((bits >> 16) | 0x40u)};
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

// IEEE binary16. Conversion rounds to nearest even, and from 65,520 on to infinity; NaN stays NaN.
struct Float16 {
  uint16_t bits = 0;
};

template <class T>
constexpr Dtype kDtypeOf = std::is_same_v<T, float>      ? Dtype::kFloat32
                           : std::is_same_v<T, BFloat16> ? Dtype::kBFloat16
                                                         : Dtype::kFloat16;

// Multiplies to convert subnormals without a branch; the product is exact.
constexpr float ToFloat(Float16 value) {
  const uint32_t magnitude = static_cast<uint32_t>(value.bits & 0x7fff) << 13;
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000) << 16;
  const float lifted = std::bit_cast<float>(magnitude) * std::bit_cast<float>(0x77800000u);
  const bool special = (value.bits & 0x7c00) == 0x7c00;
  const uint32_t bits = special ? (magnitude | 0x7f800000u) : std::bit_cast<uint32_t>(lifted);
  return std::bit_cast<float>(bits | sign);
}

constexpr Float16 ToFloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 0x477ff000u) {
    half = 0x7c00u;
  } else if (magnitude < 0x38800000u) {
    // Result is subnormal: adding 1/2 rounds to its last bit, because the last bit of a float32 in
    // [1/2, 1) has the value of the smallest binary16.
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    half = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  }
  return {static_cast<uint16_t>(sign | half)};
}

// Returns `value` after rounding to the type `dtype`.
constexpr float RoundedTo(Dtype dtype, float value) {
  switch (dtype) {
    case Dtype::kFloat32:
      return value;
    case Dtype::kBFloat16:
      return ToFloat(ToBFloat16(value));
    case Dtype::kFloat16:
      return ToFloat(ToFloat16(value));
  }
  return value;
}

// Rows of vectors, one vector per head: element (row, head, i) is at data + row * row_stride + head
// * head_stride + i (strides in elements). `ConstHeads` is for input, `Heads` for output.
struct ConstHeads {
  const void* data = nullptr;
  Dtype dtype = Dtype::kFloat32;
  int64_t row_stride = 0;
  int64_t head_stride = 0;
};

struct Heads {
  void* data = nullptr;
  Dtype dtype = Dtype::kFloat32;
  int64_t row_stride = 0;
  int64_t head_stride = 0;
};

}  // namespace midscope::kernels
