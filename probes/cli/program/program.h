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

// Runs `work` and returns the exit status: 0, or the status for the exception that `work` throws,
// after writing its message to standard error. Unexpected exceptions are reported as a bug.
int ExitStatusOf(const std::function<void()>& work);

// Runs the program. `arguments`: without the program's name. Returns the exit status; never throws.
int RunProgram(const std::vector<std::string>& arguments);

// The program's main(); main.cpp looks it up by name after loading the library that contains it.
extern "C" int MidscopeMain(int argc, char** argv);

}  // namespace midscope::cli
