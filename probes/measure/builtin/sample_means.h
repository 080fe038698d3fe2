// SPDX-License-Identifier: MIT
// Means over the samples of a stacked record (record_stack.h).
#pragma once

#include <cstddef>
#include <vector>

namespace midscope {

// Means over samples of values [sample, ...]: [...]. NaN are left out; NaN if nothing remains.
std::vector<double> MeanOverSamples(const std::vector<double>& values, size_t samples);

}  // namespace midscope
