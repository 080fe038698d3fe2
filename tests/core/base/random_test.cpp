// SPDX-License-Identifier: MIT
#include "core/base/random.h"

#include <gtest/gtest.h>

namespace midscope {
namespace {

// Reference: Vigna's splitmix64.c, seed 0.
TEST(SplitMix64, GivesThePublishedNumbers) {
  SplitMix64 random(0);
  EXPECT_EQ(random.At(1), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random.Next(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random.Next(), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random.At(0), 0x06c45d188009454fu);
}

TEST(SplitMix64, ABoundDrawsWhatBelowDraws) {
  for (const uint64_t bound : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, uint64_t{4000},
                               (uint64_t{1} << 63) + 1, UINT64_MAX}) {
    const SplitMix64::Bound bounded(bound);
    SplitMix64 one(5);
    SplitMix64 other(5);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(bounded.Draw(one), other.Below(bound)) << bound;
  }
}

}  // namespace
}  // namespace midscope
