// SPDX-License-Identifier: MIT
// Means with their uncertainty. Deterministic: the same values and seed give the same bits on every
// machine.
#pragma once

#include <cstdint>
#include <span>

namespace midscope {

// NaN for no values.
double Mean(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};

inline constexpr int kBootstrapResamples = 2000;

// 95 % percentile bootstrap interval of the mean (Efron and Tibshirani, 1993, ch. 13): `resamples`
// samples drawn with replacement, quantiles interpolated linearly. Samples are drawn from (seed,
// number of values) alone, so that values paired by index are resampled alike; for a paired
// difference hand over the differences. NaN for fewer than two values and
// where a value is NaN.
Interval BootstrapMeanInterval(std::span<const double> values, uint64_t seed,
                               int resamples = kBootstrapResamples);

}  // namespace midscope
