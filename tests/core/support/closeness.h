// SPDX-License-Identifier: MIT
// Measures of the difference between numbers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace midscope::test {

// Largest absolute value; 0 for an empty span.
inline double Largest(std::span<const float> values) {
  double largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(double{value}));
  return largest;
}

// Largest absolute difference between two rows, which must have the same length.
inline double Difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    difference = std::max(difference, std::abs(double{a[i]} - b[i]));
  return difference;
}

}  // namespace midscope::test
