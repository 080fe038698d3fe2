// SPDX-License-Identifier: MIT
// Stacks the records of one probe for several prompts into one record.
#pragma once

#include <vector>

#include "core/base/record.h"

namespace midscope {

// Returns `records`, row-major over `leading` (their number is the product of its sizes), as one
// record: every array gets the leading axes in front. If the size of an axis differs between
// records, arrays are padded to the largest (NaN; -1 for integers, 0 for booleans, "" for text) and
// an array AXIS_count [leading] has the sizes; if its values differ, AXIS_values [leading, axis]
// has them. Attributes that are equal in all records are kept; others become arrays [leading].
// Throws std::logic_error if the records differ in their arrays or axes.
Record StackRecords(const std::vector<Record>& records, const std::vector<Axis>& leading);

}  // namespace midscope
