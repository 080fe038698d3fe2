// SPDX-License-Identifier: MIT
// Prints a command's tables again, from the file that it wrote.
#pragma once

#include <string>

#include "data/store/record_reader.h"

namespace midscope::cli {

// The output of the `sweep` or `channels` that wrote the file, for its samples; "" for files of
// other commands. Throws Error (failure) for a damaged file.
std::string PrintedTable(const RunReader& reader);

}  // namespace midscope::cli
