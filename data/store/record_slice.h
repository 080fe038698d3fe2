// SPDX-License-Identifier: MIT
// A part of a record: along some axes no more than some places. "layer=8-25", "place=10",
// "setting=pi(1.5)".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// Places begin, begin + 1, ..., end - 1 of an axis.
struct AxisSlice {
  std::string axis;
  int64_t begin = 0;
  int64_t end = 0;
};

// The axis that a slice's text is about: what stands before its "=". Throws Error (usage) where
// there is none.
std::string SlicedAxisName(std::string_view text);

// What a slice's text means on the axes of this record: a label of the axis, of axis `setting` what
// the sweep was given for it, or else one value or an inclusive range of values ("8-25") of it; an
// axis without values counts from 0. Throws Error (usage) for an axis that the record lacks, and
// for places that the axis does not have or that do not lie side by side.
AxisSlice ReadAxisSlice(const Record& record, std::string_view text);

// Axis `axis` of the record that `slices` leave; its values are stated where they are no longer 0,
// 1, ...
Axis SlicedAxis(const Axis& axis, const std::vector<AxisSlice>& slices);

}  // namespace midscope
