// SPDX-License-Identifier: MIT
// Writes records as an NPZ file (a ZIP of .npy members, as numpy.savez writes), for numpy.load.
#pragma once

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>

#include "core/base/record.h"

namespace midscope {

// Maximum bytes of an NPZ file: 4 GiB (limit of ZIP offsets) minus 4 KiB for the ZIP directory.
inline constexpr int64_t kLargestNpz = std::numeric_limits<uint32_t>::max() - 4096;

// Writes each array under its own name, and for each axis the members AXIS (its values, or 0, 1,
// ...) and AXIS_label (its labels), unless an array or axis already has that name. Integer axis
// values are int64. Texts become fixed-width Unicode, booleans bool, other numbers keep their type;
// nothing is pickled. Members are stored, not compressed. Throws Error (failure) if an array or the
// file would exceed `largest` bytes, before writing the array that exceeds them. For write errors,
// it does not throw but sets the error state of `out`.
void WriteNpz(const Record& record, std::ostream& out, int64_t largest = kLargestNpz);

}  // namespace midscope
