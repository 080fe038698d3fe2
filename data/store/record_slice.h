// SPDX-License-Identifier: MIT
// A part of a record: ranges along some axes. "layer=8-25", "place=10", "setting=pi(1.5)".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// Indices begin, begin + 1, ..., end - 1 of an axis.
struct AxisSlice {
  std::string axis;
  int64_t begin = 0;
  int64_t end = 0;
};

// The axis name of a slice's text, before its "=". Throws Error (usage) if there is none.
std::string SlicedAxisName(std::string_view text);

// The indices of a slice's text on the axes of this record: a label of the axis, for axis `setting`
// also the text given to the sweep, else one value or an inclusive range of values ("8-25"); an
// axis without values counts from 0. Throws Error (usage) for an axis that the record lacks, and
// for values that the axis lacks or that are not adjacent.
AxisSlice ReadAxisSlice(const Record& record, std::string_view text);

// Axis `axis` of the record after `slices`; its values are explicit if they are no longer 0, 1, ...
Axis SlicedAxis(const Axis& axis, const std::vector<AxisSlice>& slices);

}  // namespace midscope
