// SPDX-License-Identifier: MIT
// Checks a record without data, from a file or from midscope-reader, so that its users may rely on
// names, axes and sizes. Internal to data/.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/record.h"

namespace midscope {

// Names become parts of addresses and of file names: they must not be empty, ".", ".." or longer
// than a kilobyte, nor contain "/" or control characters.
bool IsStorableName(const std::string& name);

// The functions below throw std::runtime_error with the reason.

// A record's group has its name, followed by "_record" as often as necessary.
void CheckGroupName(const std::string& group, const std::string& record);

// Checks names, labels and values of axes against their sizes, unique axes per array, and that no
// array has more bytes than `most_bytes`.
void CheckFrame(const Record& frame, int64_t most_bytes);

}  // namespace midscope
