// SPDX-License-Identifier: MIT
// Contract: bfloat16 is rounded to nearest, ties to even; infinities stay, NaN stays NaN; every
// bfloat16 survives a round trip.
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
  EXPECT_EQ(ToFloat(ToBFloat16(1.0f + 0x1p-8f)), 1.0f);                // tie, down to even
  EXPECT_EQ(ToFloat(ToBFloat16(1.0f + 3 * 0x1p-8f)), 1.0f + 0x1p-6f);  // tie, up to even
  EXPECT_EQ(ToFloat(ToBFloat16(1.0f + 0x1p-8f + 0x1p-20f)), 1.0f + 0x1p-7f);
  EXPECT_EQ(ToFloat(ToBFloat16(std::numeric_limits<float>::max())),
            std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace midscope::kernels
