// SPDX-License-Identifier: MIT
// Parses slices, which select a range of an axis: "layer=8-25", "place=10", "setting=pi(1.5)".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// A range of indices of an axis: begin, begin + 1, ..., end - 1.
struct AxisSlice {
  std::string axis;
  int64_t begin = 0;
  int64_t end = 0;
};

// Returns the axis name in a slice's text: "layer" for "layer=8". Throws Error (usage) without "=".
std::string SlicedAxisName(std::string_view text);

// Returns the indices that a slice's text selects in this record. The text after "=" is a label of
// the axis (for axis `setting` also the text given to the sweep), one value or an inclusive range
// of values ("8-25"). An axis without values has the values 0, 1, ... Throws Error (usage) if the
// record lacks the axis, or if the axis lacks the values or they are not adjacent.
AxisSlice ReadAxisSlice(const Record& record, std::string_view text);

// Returns `axis` cut to the slice with its name, if any; implied values 0, 1, ... become explicit.
Axis SlicedAxis(const Axis& axis, const std::vector<AxisSlice>& slices);

}  // namespace midscope
