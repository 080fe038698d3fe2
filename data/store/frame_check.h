// SPDX-License-Identifier: MIT
// Checks a record without data from a file or from a reader process, so that callers can rely on
// its names, axes and sizes. Internal to data/.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/record.h"

namespace midscope {

// Whether a name can be part of an address or a file name: it must not be empty, ".", ".." or
// longer than a kilobyte, nor contain "/" or control characters.
bool IsStorableName(const std::string& name);

// The functions below throw std::runtime_error, which states the reason, if a check fails.

// Checks that an HDF5 group has the name of its record, followed by "_record" any number of times.
void CheckGroupName(const std::string& group, const std::string& record);

// Checks a record without array data: its names, that numbers of labels and values match the sizes
// of axes, that no array has an axis twice, and that no array exceeds `most_bytes` bytes.
void CheckFrame(const Record& frame, int64_t most_bytes);

}  // namespace midscope
