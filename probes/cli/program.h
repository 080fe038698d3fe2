// SPDX-License-Identifier: MIT
// The program `midscope`: selects the command, returns the exit status.
#pragma once

#include <string>
#include <vector>

namespace midscope::cli {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;  // 128 + SIGINT, as shells count
inline constexpr int kExitBrokenPipe = 141;   // 128 + SIGPIPE

// `arguments`: without the program's name. Returns the exit status; nothing is thrown.
int RunProgram(const std::vector<std::string>& arguments);

}  // namespace midscope::cli
