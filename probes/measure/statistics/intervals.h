// SPDX-License-Identifier: MIT
// 95 % confidence intervals of means, shares and paired differences of shares. They use closed
// forms or root searches and no random numbers, so that the same values give the same bits on every
// machine. tests/probes/statistics/intervals_test.cpp simulates how often each contains the true
// value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "probes/measure/statistics/statistics.h"

namespace midscope {

// Returns the 0.975 quantile of Student's t distribution; infinity for 0 or fewer degrees of
// freedom.
double StudentQuantile(int64_t degrees_of_freedom);

// Returns the interval of the mean of a sample, by Student's t. NaN if there are fewer than two
// values or one is NaN.
Interval MeanInterval(std::span<const double> values);

// Returns the interval of a share of `samples`, by Wilson's score (1927). `samples` may be a
// fractional effective number. NaN if it is 0.
Interval ShareInterval(double share, double samples);

// Returns the interval of the share of ones in rows [sample, column] of 0 and 1. Because cells of
// one sample are correlated, uses Wilson's score for the effective number of samples (Kish, 1965:
// the number of independent cells that would give the observed variance of the samples' means), at
// least the number of samples and at most that of cells; and the quantile of Student's t, because
// the variance is estimated (Korn and Graubard, 1998). Returns NaN for fewer than two rows.
Interval RowShareInterval(std::span<const double> rows, size_t columns);

// Returns the interval of the difference a - b of two independent estimates, from their intervals:
// the distance of each end from a - b is the root of the summed squares of the two estimates'
// distances (Newcombe, Statistics in Medicine 17, 1998, method 10; Zou and Donner 2008 for
// estimates other than shares). NaN if an end of the intervals is NaN.
Interval IndependentDifferenceInterval(double a, Interval of_a, double b, Interval of_b);

// Returns the interval of the difference of two shares of the same samples, (gained - lost) /
// samples, by Tango's score (Statistics in Medicine 17, 1998). `gained`: number of samples for
// which only the first is correct; `lost`: only the second. Numbers may be fractional. NaN if
// `samples` is 0.
Interval PairedShareInterval(double gained, double lost, double samples);

// Returns the interval of the mean of differences of -1, 0 and 1 between shares, in rows [sample,
// column], by Tango's score with the effective number of samples of RowShareInterval. NaN for fewer
// than two rows.
Interval PairedRowShareInterval(std::span<const double> differences, size_t columns);

}  // namespace midscope
