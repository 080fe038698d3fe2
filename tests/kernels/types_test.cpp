// SPDX-License-Identifier: MIT
// Contract: conversion to bfloat16 and float16 rounds to nearest, ties to even; infinities stay
// infinite, NaN stays NaN; every bfloat16 and every float16 survives a round trip.
#include "kernels/types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace midscope::kernels {
namespace {

TEST(BFloat16, RoundTripsEveryValue) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const BFloat16 value{static_cast<uint16_t>(bits)};
    const float wide = ToFloat(value);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(ToFloat(ToBFloat16(wide))));
    } else {
      EXPECT_EQ(ToBFloat16(wide).bits, value.bits);
    }
  }
}

TEST(BFloat16, RoundsToNearestEven) {
  // A tie, rounded down to even.
  EXPECT_EQ(ToFloat(ToBFloat16(1.0f + 0x1p-8f)), 1.0f);
  EXPECT_EQ(ToFloat(ToBFloat16(1.0f + 3 * 0x1p-8f)), 1.0f + 0x1p-6f);  // a tie, rounded up to even
  EXPECT_EQ(ToFloat(ToBFloat16(1.0f + 0x1p-8f + 0x1p-20f)), 1.0f + 0x1p-7f);
  EXPECT_EQ(ToFloat(ToBFloat16(std::numeric_limits<float>::max())),
            std::numeric_limits<float>::infinity());
}

TEST(Float16, RoundTripsEveryValue) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const Float16 value{static_cast<uint16_t>(bits)};
    const float wide = ToFloat(value);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(ToFloat(ToFloat16(wide))));
    } else {
      EXPECT_EQ(ToFloat16(wide).bits, value.bits);
    }
  }
}

// For every two adjacent numbers, including subnormal ones: values between them round to the nearer
// one, the middle to the even one.
TEST(Float16, RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const Float16 low{static_cast<uint16_t>(bits)}, high{static_cast<uint16_t>(bits + 1)};
    const float middle = (ToFloat(low) + ToFloat(high)) / 2;  // exact
    const uint32_t even = bits + bits % 2;
    for (const uint32_t sign : {0u, 0x8000u}) {
      const float signed_middle = sign == 0 ? middle : -middle;
      ASSERT_EQ(ToFloat16(signed_middle).bits, even | sign);
      ASSERT_EQ(ToFloat16(std::nextafter(signed_middle, 0.0f)).bits, bits | sign);
      ASSERT_EQ(ToFloat16(std::nextafter(signed_middle, 2 * signed_middle)).bits,
                (bits + 1) | sign);
    }
  }
}

TEST(Float16, IsInfiniteBeyondItsRange) {
  constexpr uint16_t kInfinity = 0x7c00, kLargest = 0x7bff;
  EXPECT_EQ(ToFloat(Float16{kLargest}), 65504.0f);
  EXPECT_EQ(ToFloat16(std::nextafter(65520.0f, 0.0f)).bits, kLargest);
  EXPECT_EQ(ToFloat16(65520.0f).bits, kInfinity);
  EXPECT_EQ(ToFloat16(-1e30f).bits, kInfinity | 0x8000);
  EXPECT_EQ(ToFloat16(std::numeric_limits<float>::infinity()).bits, kInfinity);
}

}  // namespace
}  // namespace midscope::kernels
