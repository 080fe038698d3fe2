// SPDX-License-Identifier: MIT
// Whether a record without its data, as a file or midscope-reader gives it, can be true, so that
// readers behind it may rely on names, axes and sizes. Internal to data/.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/record.h"

namespace midscope {

// Names become parts of addresses and of file names: they are not empty, ".", ".." or longer than
// a kilobyte, and have neither "/" nor control characters.
bool IsStorableName(const std::string& name);

// The functions below throw std::runtime_error that says what is wrong.

// The group of a record is named as the record, with "_record" behind it as often as need be.
void CheckGroupName(const std::string& group, const std::string& record);

// Names, labels and values of axes against their sizes, axes of arrays, each once; and that no
// array has more bytes than `most_bytes`.
void CheckFrame(const Record& frame, int64_t most_bytes);

}  // namespace midscope
