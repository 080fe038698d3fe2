// SPDX-License-Identifier: MIT
// The table of sinusoidal positions: its formula, odd widths, non-integer positions, positions
// beyond any context, and rounding.
#include "core/compute/position_embeddings.h"

#include <gtest/gtest.h>

#include <cmath>

namespace midscope {
namespace {

using kernels::Dtype;

TEST(SinusoidalPositions, AreSinesThenCosinesOfFallingFrequencies) {
  constexpr int64_t kWidth = 13;  // the last element belongs to no pair
  constexpr int64_t kOffset = 2;
  const PositionEmbeddings embeddings(kWidth, kOffset, Dtype::kFloat32);
  for (const double position : {0.0, 1.0, 17.5, 9000.0}) {
    std::vector<float> row(kWidth);
    embeddings.Row(position, row.data());
    for (int64_t j = 0; j < kWidth / 2; ++j) {
      const double angle = (position + kOffset) * std::pow(10000.0, -static_cast<double>(j) / 5.0);
      // Angles are float32, as in transformers.
      const double tolerance = 1e-6 + 2e-7 * angle;
      EXPECT_NEAR(row[static_cast<size_t>(j)], std::sin(angle), tolerance) << position << " " << j;
      EXPECT_NEAR(row[static_cast<size_t>(kWidth / 2 + j)], std::cos(angle), tolerance);
    }
    EXPECT_EQ(row.back(), 0.0f);
  }
}

TEST(SinusoidalPositions, AreRoundedToTheRunsDtype) {
  std::vector<float> exact(8);
  std::vector<kernels::BFloat16> rounded(8);
  PositionEmbeddings(8, 2, Dtype::kFloat32).Row(5, exact.data());
  PositionEmbeddings(8, 2, Dtype::kBFloat16).Row(5, rounded.data());
  for (size_t i = 0; i < exact.size(); ++i)
    EXPECT_EQ(kernels::ToFloat(rounded[i]), kernels::RoundedTo(Dtype::kBFloat16, exact[i]));
}

}  // namespace
}  // namespace midscope
