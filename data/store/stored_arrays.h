// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/base/record.h"

namespace midscope {

// The kind of an array's elements, from its type and unit: defines which arrays have a mean, a
// largest value and a plot.

// Unit of ranks that count from 0 in files (0: the first); they are printed from 1 on.
inline constexpr const char* kRankFromZero = "rank from 0";

// Whether the array has statistics and plots: measured numbers, shares of booleans, ranks. Other
// integers are ids, offsets, indices and counts.
bool IsMeasured(const Array& array);

// Whether the last two axes of the array are layer and head.
bool IsOverHeads(const Array& array);

// The values of an axis as stored. Internal to data/.

// int64 if all are integers (or implied: 0, 1, ...), so that they read as 0, 1, 5 and joins on them
// work; float64 otherwise.
ArrayData AxisValues(const Axis& axis);

}  // namespace midscope
