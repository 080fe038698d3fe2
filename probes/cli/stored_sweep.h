// SPDX-License-Identifier: MIT
// The tables of a command again, out of the file that it wrote.
#pragma once

#include <string>

#include "data/store/record_reader.h"

namespace midscope::cli {

// What `sweep` or `channels` printed when it wrote the file, of the samples that are in it; "" for
// files of other commands. Throws Error (failure) for a damaged file.
std::string PrintedTable(const RunReader& reader);

}  // namespace midscope::cli
