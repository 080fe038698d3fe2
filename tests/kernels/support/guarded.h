// SPDX-License-Identifier: MIT
// Buffers for tests of kernels, with sentinels on both sides to detect writes out of range.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/types.h"

namespace midscope::kernels {

inline std::string DtypeText(Dtype dtype) {
  constexpr const char* kTexts[] = {"float32", "bfloat16", "float16"};
  return kTexts[static_cast<size_t>(dtype)];
}

// A buffer of `count` elements, initially NaN, between sentinels.
class Guarded {
 public:
  Guarded(int64_t count, Dtype dtype)
      : dtype_(dtype), bytes_(static_cast<size_t>(count * SizeOf(dtype))) {
    memory_.assign(bytes_ + 2 * kGuard, kSentinel);
    Spoil();
  }
  void* data() { return memory_.data() + kGuard; }
  const void* data() const { return memory_.data() + kGuard; }
  float At(int64_t i) const {
    const unsigned char* base = memory_.data() + kGuard;
    if (dtype_ == Dtype::kFloat32) {
      float value;
      std::memcpy(&value, base + 4 * i, 4);
      return value;
    }
    uint16_t bits;
    std::memcpy(&bits, base + 2 * i, 2);
    return dtype_ == Dtype::kBFloat16 ? ToFloat(BFloat16{bits}) : ToFloat(Float16{bits});
  }
  void Set(int64_t i, float value) {
    unsigned char* base = memory_.data() + kGuard;
    const uint16_t bits =
        dtype_ == Dtype::kBFloat16 ? ToBFloat16(value).bits : ToFloat16(value).bits;
    if (dtype_ == Dtype::kFloat32) {
      std::memcpy(base + 4 * i, &value, 4);
    } else {
      std::memcpy(base + 2 * i, &bits, 2);
    }
  }
  bool Intact() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (memory_[i] != kSentinel || memory_[kGuard + bytes_ + i] != kSentinel) return false;
    }
    return true;
  }
  bool operator==(const Guarded& other) const { return memory_ == other.memory_; }
  // Sets all elements to NaN.
  void Spoil() { std::memset(data(), 255, bytes_); }

 private:
  static constexpr size_t kGuard = 256;
  static constexpr unsigned char kSentinel = 0xa5;
  Dtype dtype_;
  size_t bytes_;
  std::vector<unsigned char> memory_;
};

template <class T>
T* Data(Guarded& guarded) {
  return static_cast<T*>(guarded.data());
}

// Sets the elements to NaN until the returned function is called, which restores them.
inline std::function<void()> TakenAway(Guarded& values) {
  const Guarded there = values;
  values.Spoil();
  return [&values, there] { values = there; };
}

// A copy of the elements in float32.
inline Guarded Widened(const Guarded& from, int64_t count) {
  Guarded wide(count, Dtype::kFloat32);
  for (int64_t i = 0; i < count; ++i) wide.Set(i, from.At(i));
  return wide;
}

// Normally distributed numbers, determined by `seed`.
inline Guarded Random(int64_t count, Dtype dtype, unsigned seed, float spread = 1.0f) {
  Guarded numbers(count, dtype);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  for (int64_t i = 0; i < count; ++i) numbers.Set(i, normal(random));
  return numbers;
}

// Largest difference between two guarded buffers of `count` elements; NaN counts as infinite.
inline double MaxDifference(const Guarded& a, const Guarded& b, int64_t count) {
  double max = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double difference = std::abs(static_cast<double>(a.At(i)) - b.At(i));
    if (!(difference <= max)) max = std::isnan(difference) ? INFINITY : difference;
  }
  return max;
}

}  // namespace midscope::kernels
