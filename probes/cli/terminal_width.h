// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>

namespace midscope::cli {

// Columns of the terminal that standard output is; nullopt where it is a file or a pipe, whose
// lines are as long as they need to be.
std::optional<size_t> TerminalWidth();

}  // namespace midscope::cli
