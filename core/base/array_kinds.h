// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/base/record.h"

namespace midscope {

// Derives the kind of an array's elements from its type and unit; it determines which arrays get a
// mean, a largest value and a plot.

// Unit of ranks that count from 0 in files; they are printed counting from 1.
inline constexpr const char* kRankFromZero = "rank from 0";

// Whether statistics and plots make sense for the array: measured numbers, shares of booleans,
// ranks. Other integers are ids, offsets, indices and counts.
bool IsMeasured(const Array& array);

// Whether the last two axes of the array are layer and head.
bool IsOverHeads(const Array& array);

bool HasAxis(const Array& array, const std::string& axis);

// Returns the values of an axis as they are stored:
// int64 if all values are integers (or implied: 0, 1, ...), so that they are read as 0, 1, 5 and
// can be used as join keys; float64 otherwise.
ArrayData AxisValues(const Axis& axis);

}  // namespace midscope
