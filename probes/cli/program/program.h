// SPDX-License-Identifier: MIT
// The program `midscope`: selects the command, returns the exit status.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace midscope::cli {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitBrokenPipe = 141;  // 128 + SIGPIPE

// Runs `work`. Returns the exit status of what it throws, whose message goes to standard error (0:
// it has thrown nothing). Other exceptions than Error are reported as a bug.
int ExitStatusOf(const std::function<void()>& work);

// `arguments`: without the program's name. Returns the exit status; nothing is thrown.
int RunProgram(const std::vector<std::string>& arguments);

}  // namespace midscope::cli
