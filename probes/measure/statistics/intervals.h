// SPDX-License-Identifier: MIT
// 95 % confidence intervals of means, shares and paired differences of shares. Closed forms or root
// searches: no random numbers, so the same values give the same bits on every machine.
// tests/probes/statistics/intervals_test.cpp simulates how often each holds the true value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "probes/measure/statistics/statistics.h"

namespace midscope {

// The 0.975 quantile of Student's t distribution; infinite for 0 degrees of freedom or fewer.
double StudentQuantile(int64_t degrees_of_freedom);

// Mean of a sample by Student's t. NaN for fewer than two values and where one is NaN.
Interval MeanInterval(std::span<const double> values);

// `share` of `samples` that are correct, by Wilson's score (1927). `samples` may be fractional: an
// effective number. NaN for 0.
Interval ShareInterval(double share, double samples);

// Share over all cells of rows [sample, column] of 0 and 1. Cells of one sample are correlated:
// they count for less than as many samples. Wilson's score on the effective number of samples
// (Kish, 1965: the number at which independent cells would have the variance of the samples'
// means), at least the samples and at most the cells, with the quantile of Student's t because the
// variance is estimated (Korn and Graubard, 1998). NaN for fewer than two rows.
Interval RowShareInterval(std::span<const double> rows, size_t columns);

// Difference a - b of two independent estimates with their intervals: each end is as far from a - b
// as the root of the summed squares of the two ends' distances (Newcombe, Statistics in Medicine
// 17, 1998, method 10; Zou and Donner 2008 for other estimates than shares). NaN if an end is.
Interval IndependentDifferenceInterval(double a, Interval of_a, double b, Interval of_b);

// Difference between two shares of the same `samples`, of which only the first is correct for
// `gained` and only the second for `lost`: gained / samples - lost / samples, by Tango's score
// (Statistics in Medicine 17, 1998). Numbers may be fractional. NaN for no samples.
Interval PairedShareInterval(double gained, double lost, double samples);

// As above, for differences -1, 0 and 1 in rows [sample, column], on the effective number of
// samples as RowShareInterval counts it. NaN for fewer than two rows.
Interval PairedRowShareInterval(std::span<const double> differences, size_t columns);

}  // namespace midscope
