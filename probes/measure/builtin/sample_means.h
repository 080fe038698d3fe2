// SPDX-License-Identifier: MIT
// Computes means over the samples of a stacked record (record_stack.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// Returns the means of values [sample, ...] over samples, [...]. NaN values are ignored; the mean
// is NaN if all values are NaN.
std::vector<double> MeanOverSamples(const std::vector<double>& values, size_t samples);

// Returns an array `name`_half_width with half the 95 % interval, by Student's t, of each mean over
// samples; NaN if fewer than two samples have a number.
Array HalfWidthOverSamples(const std::string& name, const std::vector<std::string>& axes,
                           const std::vector<double>& values, size_t samples);

}  // namespace midscope
