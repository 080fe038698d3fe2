// SPDX-License-Identifier: MIT
// The values of an axis as stored. Internal to data/.
#pragma once

#include "core/base/record.h"

namespace midscope {

// int64 where all are whole numbers (or implied: 0, 1, ...), so that they read as 0, 1, 5 and joins
// on them work; float64 otherwise.
ArrayData AxisValues(const Axis& axis);

}  // namespace midscope
