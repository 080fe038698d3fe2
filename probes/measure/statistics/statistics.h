// SPDX-License-Identifier: MIT
// Means and differences with their uncertainty. All functions are deterministic: the same values
// and seed give the same bits on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace midscope {

// Returns the mean of the values; NaN if there are none.
double Mean(std::span<const double> values);

// Returns the mean of every column of rows [row, column], row-major; [column].
std::vector<double> ColumnMeans(std::span<const double> rows, size_t columns);

// Value of a statistic that is undefined for its input.
inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

bool HasNan(std::span<const double> values);

// Returns the standard deviation of a sample (divisor n - 1); NaN for fewer than two values.
double StandardDeviation(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};

inline constexpr int kBootstrapResamples = 2000;
inline constexpr int kPermutations = 10000;

// Returns the 95 % percentile bootstrap interval (Efron and Tibshirani, 1993, ch. 13) of a
// statistic of rows [row, column]. Each of `resamples` resamples draws whole rows with replacement,
// as many as there are; `statistic` gets the mean of every column; quantiles are interpolated
// linearly. The drawn rows depend only on the seed and the number of rows. NaN if there are fewer
// than two rows or a value is NaN. Only for statistics without closed form: means and shares have
// better intervals (intervals.h), and below about 20 rows this interval covers less than 95 %.
using ColumnStatistic = std::function<double(std::span<const double> column_means)>;
Interval BootstrapRowsInterval(std::span<const double> rows, size_t columns, uint64_t seed,
                               const ColumnStatistic& statistic,
                               int resamples = kBootstrapResamples);

// Returns the p value of paired differences for a mean of 0, in a two-sided permutation test
// (Fisher, 1935: under the hypothesis, both signs are equally likely): the share of sign changes
// whose mean is at least as far from 0. Uses all 2^n sign changes if there are at most
// `permutations`, otherwise `permutations` random ones, including the observed signs (Phipson and
// Smyth, 2010). NaN if there are no values or one is NaN.
double SignFlipPValue(std::span<const double> differences, uint64_t seed,
                      int permutations = kPermutations);

// Returns the smallest possible p of SignFlipPValue and SwapPValue for n differences: 2 / 2^n,
// because a set of signs and its opposite give means equally far from 0. NaN for n = 0.
double SmallestSignFlipP(int64_t differences);

// Result of a permutation test that permutes each row's values among its columns.
struct ColumnEffect {
  double p = 0;           // probability that column means differ as much by chance
  double chance_gap = 0;  // largest minus smallest column mean, averaged over permutations
};

// Tests whether the means of columns of rows [row, column] differ. The statistic is the sum of
// squares of column means; the F of a repeated measures analysis is a monotone function of it. NaN
// if there are fewer than two columns or a value is NaN.
ColumnEffect TestColumnEffect(std::span<const double> rows, size_t columns, uint64_t seed,
                              int permutations = kPermutations);

// Tests whether the means of cells of `width` columns in rows [row, cell, column] differ: permutes
// whole cells; `statistic` converts the column means of a cell to one number, and the test uses the
// sum of squares of these numbers about their mean.
ColumnEffect TestCellEffect(std::span<const double> rows, size_t cells, size_t width, uint64_t seed,
                            const ColumnStatistic& statistic, int permutations = kPermutations);

// Returns the p value of the difference of a statistic between two paired sets of rows, in a
// two-sided permutation test that swaps rows with their partners.
double SwapPValue(std::span<const double> rows, std::span<const double> others, size_t columns,
                  uint64_t seed, const ColumnStatistic& statistic,
                  int permutations = kPermutations);

// Returns p values after Holm's step-down adjustment (1979), which limits the probability of any
// false finding among all tests to the level that the results are compared with. NaN values are not
// counted as tests and stay NaN.
std::vector<double> HolmAdjusted(std::span<const double> p_values);

// Returns the number of paired samples needed to detect a mean difference of `difference` with 80 %
// power at the 5 % level, two-sided, if differences have `standard_deviation` (normal
// approximation); -1 if no number is enough. DetectableDifference returns the difference that
// `samples` samples detect.
int64_t SamplesForDifference(double standard_deviation, double difference);
double DetectableDifference(double standard_deviation, int64_t samples);

}  // namespace midscope
