// SPDX-License-Identifier: MIT
// Records as an NPZ file (a ZIP of .npy members, as numpy.savez writes), for numpy.load.
#pragma once

#include <ostream>
#include <string>

#include "core/base/record.h"

namespace midscope {

// Each array under its own name, and for each axis AXIS (its values, or 0, 1, ...) and AXIS_label
// (its labels), where no array or axis has that name. Whole axis values are int64. Texts become
// fixed-width Unicode, booleans bool, other numbers keep their type; no pickles. Members are
// stored, not compressed. Throws Error (failure) for an array over 4 GiB, the limit of a member;
// write errors are those of `out`.
void WriteNpz(const Record& record, std::ostream& out);

}  // namespace midscope
