// SPDX-License-Identifier: MIT
// Records as an NPZ file (a ZIP of .npy members, as numpy.savez writes), for numpy.load.
#pragma once

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>

#include "core/base/record.h"

namespace midscope {

// 4 GiB, the limit of ZIP addresses, without room for its directory.
inline constexpr int64_t kLargestNpz = std::numeric_limits<uint32_t>::max() - 4096;

// Each array under its own name, and for each axis AXIS (its values, or 0, 1, ...) and AXIS_label
// (its labels), if no array or axis has that name. Whole axis values are int64. Texts become
// fixed-width Unicode, booleans bool, other numbers keep their type; no pickles. Members are
// stored, not compressed. Throws Error (failure) for an array or a file of more than `largest`
// bytes, before the first byte of what goes beyond it is written; write errors are those of `out`.
void WriteNpz(const Record& record, std::ostream& out, int64_t largest = kLargestNpz);

}  // namespace midscope
