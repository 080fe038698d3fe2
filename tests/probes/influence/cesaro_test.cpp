// SPDX-License-Identifier: MIT
// The closed form for even attention against products of matrices and the limit of arXiv
// 2603.10123.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "probes/measure/influence/cesaro.h"

namespace midscope {
namespace {

TEST(CesaroInfluence, IsTheLastRowOfThePowers) {
  constexpr size_t kTokens = 5;
  constexpr double kAlpha = 0.3;
  std::vector<double> row(kTokens, 0.0);
  row.back() = 1;
  for (int layer = 0; layer < 4; ++layer) {
    std::vector<double> next(kTokens, 0.0);
    for (size_t i = 0; i < kTokens; ++i) {
      next[i] += (1 - kAlpha) * row[i];
      for (size_t j = 0; j <= i; ++j) next[j] += kAlpha * row[i] / static_cast<double>(i + 1);
    }
    row = next;
  }
  const std::vector<double> influence = CesaroInfluence(kTokens, 4, kAlpha);
  ASSERT_EQ(influence.size(), kTokens);
  for (size_t i = 0; i < kTokens; ++i) EXPECT_NEAR(influence[i], row[i], 1e-12);
  EXPECT_NEAR(std::accumulate(influence.begin(), influence.end(), 0.0), 1, 1e-12);
}

// Without residual connections, the density of M^H at x of the sequence is
// (-ln x)^(H - 1) / (H - 1)!.
TEST(CesaroInfluence, ApproachesTheDensityOfTheLimit) {
  constexpr int64_t kTokens = 20000;
  const std::vector<double> influence = CesaroInfluence(kTokens, 3, 1);
  for (const double x : {0.1, 0.5, 0.9}) {
    const double density = std::pow(-std::log(x), 2) / 2;
    EXPECT_NEAR(influence[static_cast<size_t>(x * kTokens)] * kTokens, density,
                0.01 * density + 1e-3)
        << x;
  }
}

TEST(FitCesaro, FindsTheShareOfAttention) {
  const std::vector<double> influence = CesaroInfluence(40, 6, 0.25);
  std::vector<double> by_part(10);
  for (size_t i = 0; i < influence.size(); ++i) by_part[i / 4] += influence[i] * 10;
  const CesaroFit fit = FitCesaro(by_part, 40, 6);
  EXPECT_DOUBLE_EQ(fit.alpha, 0.25);
  EXPECT_NEAR(fit.difference, 0, 1e-9);
  by_part[2] = 0;
  EXPECT_TRUE(std::isnan(FitCesaro(by_part, 40, 6).alpha));
}

TEST(RelativeByPart, FillsPartsShorterThanAToken) {
  const std::vector<double> by_token = {1, 2, 6};
  EXPECT_EQ(RelativeByPart(by_token, 2), (std::vector<double>{0.5, 2}));
  EXPECT_EQ(RelativeByPart(by_token, 6),
            (std::vector<double>{1 / 3., 1 / 3., 2 / 3., 2 / 3., 2, 2}));
}

}  // namespace
}  // namespace midscope
