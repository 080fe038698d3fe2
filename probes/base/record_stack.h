// SPDX-License-Identifier: MIT
// Stacks the records of one probe for several prompts into one record.
#pragma once

#include <vector>

#include "core/base/record.h"

namespace midscope {

// Returns `records`, row-major over `leading` (the number of records is the product of the sizes of
// `leading`), as one record: every array gets the leading axes in front. If the size of an axis
// differs between records, arrays are padded to the largest (NaN; -1 for integers, 0 for booleans,
// "" for text) and an array AXIS_count [leading] stores the sizes; if the values of an axis differ,
// AXIS_values [leading, axis] stores them. Attributes that are equal in all records are kept;
// others become arrays [leading].
//
// For attributes and axes that describe one prompt, such as answer_nll and `token`, the layout does
// not depend on the values: these attributes always become arrays, with unit and type from a table
// (`correct` is a boolean), and these axes always have AXIS_count and, for several records, no
// labels. An attribute with the name of a leading axis is left out. Throws std::logic_error if the
// records differ in their arrays or axes.
Record StackRecords(const std::vector<Record>& records, const std::vector<Axis>& leading);

}  // namespace midscope
