// SPDX-License-Identifier: MIT
// Similarity of two orders. NaN for fewer than two values and where one side is constant.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace midscope {

// Ranks from 1 upwards, smallest value first; equal values share the mean of their ranks.
std::vector<double> AverageRanks(std::span<const double> values);

// Spearman's rho: Pearson's correlation of the average ranks.
double SpearmanCorrelation(std::span<const double> a, std::span<const double> b);

// Kendall's tau-b (Kendall, 1945), which corrects for ties.
double KendallTau(std::span<const double> a, std::span<const double> b);

// Ranks of heads by their counts, largest first: 0 for the largest; ties go to the lower head, as
// in Ms-PoE's assignment of ratios.
std::vector<int64_t> StableRanks(std::span<const int64_t> counts);

// Mean of the finite values; NaN if there is none.
double MeanOfNumbers(std::span<const double> values);

}  // namespace midscope
