// SPDX-License-Identifier: MIT
// Means and differences with their uncertainty. Deterministic: the same values and seed give the
// same bits on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace midscope {

// NaN for no values.
double Mean(std::span<const double> values);

// The mean of every column of rows [row, column], row-major. [column]
std::vector<double> ColumnMeans(std::span<const double> rows, size_t columns);

// Value of a statistic that its values do not define.
inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

bool HasNan(std::span<const double> values);

// Standard deviation of a sample (divisor n - 1); NaN for fewer than two values.
double StandardDeviation(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};

inline constexpr int kBootstrapResamples = 2000;
inline constexpr int kPermutations = 10000;

// 95 % percentile bootstrap interval (Efron and Tibshirani, 1993, ch. 13) of a statistic of rows
// [row, column]: `resamples` times as many whole rows are drawn with replacement, `statistic` gets
// the mean of every column, quantiles are interpolated linearly. Rows are drawn from (seed, number
// of rows) only. NaN for fewer than two rows and where a value is NaN. For statistics without
// closed form: means and shares have better intervals (intervals.h), and below some 20 rows this
// one covers less than 95 %.
using ColumnStatistic = std::function<double(std::span<const double> column_means)>;
Interval BootstrapRowsInterval(std::span<const double> rows, size_t columns, uint64_t seed,
                               const ColumnStatistic& statistic,
                               int resamples = kBootstrapResamples);

// Two-sided permutation test of paired differences against a mean of 0 (Fisher, 1935: every sign
// may as well be the other): the share of sign changes whose mean is at least as far from 0. Over
// all 2^n where these are at most `permutations`, else over so many drawn ones, the observed one
// counted among them (Phipson and Smyth, 2010). NaN for no values or where one is NaN.
double SignFlipPValue(std::span<const double> differences, uint64_t seed,
                      int permutations = kPermutations);

// The smallest p of SignFlipPValue and SwapPValue for that number of differences: 2 / 2^n, because
// a set of signs and its opposite are equally far from 0. NaN for none.
double SmallestSignFlipP(int64_t differences);

// The result of permuting each row's values among its columns.
struct ColumnEffect {
  double p = 0;  // that column means differ as much as they do by chance
  double chance_gap =
      0;  // mean over the permutations of the largest minus the smallest column mean
};

// Whether columns [row, column] differ in their means: the statistic is the sum of squares of
// column means (of which the F of a repeated measures analysis is a monotone function). NaN for
// fewer than two columns or a NaN.
ColumnEffect TestColumnEffect(std::span<const double> rows, size_t columns, uint64_t seed,
                              int permutations = kPermutations);

// As above, for cells of `width` columns each, [row, cell, column]: whole cells are permuted, and
// `statistic` makes one number of the means of a cell's columns. The sum of squares is that of the
// cells' numbers about their mean.
ColumnEffect TestCellEffect(std::span<const double> rows, size_t cells, size_t width, uint64_t seed,
                            const ColumnStatistic& statistic, int permutations = kPermutations);

// Two-sided permutation test of a difference of a statistic between two paired sets of rows: a row
// and its partner are swapped.
double SwapPValue(std::span<const double> rows, std::span<const double> others, size_t columns,
                  uint64_t seed, const ColumnStatistic& statistic,
                  int permutations = kPermutations);

// Holm's step-down adjustment (1979): limits the probability of any false finding among all tests
// to the level that the result is compared with. NaN is ignored and kept.
std::vector<double> HolmAdjusted(std::span<const double> p_values);

// The number of paired samples that show a mean difference of `difference` with 80 % power at the 5
// % level, two-sided, for differences with `standard_deviation` (normal approximation); and the
// difference that `samples` show. -1 if no number is enough.
int64_t SamplesForDifference(double standard_deviation, double difference);
double DetectableDifference(double standard_deviation, int64_t samples);

}  // namespace midscope
