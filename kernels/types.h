// SPDX-License-Identifier: MIT
// Element types and views that kernels work on. Raw pointers and shapes only: no tensor library.
#pragma once

#include <bit>
#include <cstdint>

namespace midscope::kernels {

enum class Dtype { kFloat32, kBFloat16 };

constexpr int64_t SizeOf(Dtype dtype) { return dtype == Dtype::kFloat32 ? 4 : 2; }

// Upper half of a float32. Conversion rounds to nearest even; NaN stays NaN.
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

// The value as that type holds it.
constexpr float RoundedTo(Dtype dtype, float value) {
  return dtype == Dtype::kFloat32 ? value : ToFloat(ToBFloat16(value));
}

// Rows of vectors, one vector a head: element (row, head, i) lies at data + row * row_stride + head
// * head_stride + i (strides in elements). What is read is `ConstHeads`, what is written `Heads`.
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
