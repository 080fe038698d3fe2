// SPDX-License-Identifier: MIT
// What the elements of an array are, told from its type and unit: the one place that decides which
// arrays have a mean, a largest value and a picture.
#pragma once

#include <string>

#include "core/base/record.h"

namespace midscope {

// Unit of ranks that count from 0 in files (0: the first); they are printed from 1 on.
inline constexpr const char* kRankFromZero = "rank from 0";

// Whether statistics and pictures of the array say something: numbers that are measured, shares of
// booleans, ranks. Other integers are ids, offsets, indices and counts; texts are texts.
bool IsMeasured(const Array& array);

// Whether the last two axes of the array are layer and head.
bool IsOverHeads(const Array& array);

}  // namespace midscope
