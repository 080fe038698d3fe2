// SPDX-License-Identifier: MIT
// Records of one probe over several prompts, as one record with leading axes.
#pragma once

#include <vector>

#include "core/base/record.h"

namespace midscope {

// Returns `records`, row-major over `leading` (their number is the product of its sizes), as one
// record: every array gets the leading axes in front. Where an axis differs in size between
// records, arrays are padded to the largest (NaN; -1 for integers, 0 for booleans, "" for text) and
// an array AXIS_count [leading] holds the sizes; where its values differ, AXIS_values [leading,
// axis] holds them. Attributes that all records share are kept; others become arrays [leading].
// Throws std::logic_error if the records differ in their arrays or axes.
Record StackRecords(const std::vector<Record>& records, const std::vector<Axis>& leading);

}  // namespace midscope
