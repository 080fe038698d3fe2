// SPDX-License-Identifier: MIT
// Rank correlations. They are NaN for fewer than two values or if one of the series is constant.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace midscope {

// Returns the ranks, from 1 for the smallest value; equal values get the mean of their ranks.
std::vector<double> AverageRanks(std::span<const double> values);

// Returns Spearman's rho: Pearson's correlation of the average ranks.
double SpearmanCorrelation(std::span<const double> a, std::span<const double> b);

// Returns Kendall's tau-b (Kendall, 1945), which corrects for ties.
double KendallTau(std::span<const double> a, std::span<const double> b);

// Returns the ranks of heads by their counts, 0 for the largest; for ties, the lower head comes
// first, as in Ms-PoE's assignment of ratios.
std::vector<int64_t> StableRanks(std::span<const int64_t> counts);

// Returns the mean of the finite values; NaN if there are none.
double MeanOfNumbers(std::span<const double> values);

}  // namespace midscope
