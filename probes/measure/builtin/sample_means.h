// SPDX-License-Identifier: MIT
// Computes means over the samples of a stacked record (record_stack.h).
#pragma once

#include <cstddef>
#include <vector>

namespace midscope {

// Returns the means of values [sample, ...] over samples, [...]. Ignores NaN; NaN if all values are
// NaN.
std::vector<double> MeanOverSamples(const std::vector<double>& values, size_t samples);

}  // namespace midscope
