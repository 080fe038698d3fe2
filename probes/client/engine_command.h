// SPDX-License-Identifier: MIT
// The command that starts an engine process: here, on another machine by ssh, or by any command
// that passes standard input and output on.
#pragma once

#include <string>
#include <vector>

namespace midscope {

struct EngineCommand {
  std::vector<std::string> words;  // {"midscope", "serve", "--stdio"}
  bool remote = false;             // whether it may run on another machine, with other files
};

// Returns the path of a program in the folder of this program, or on PATH; "" if there is none.
std::string FindProgram(const std::string& name);

// Returns the program `midscope`: MIDSCOPE_PROGRAM, in the folder of this program, or on PATH.
// Throws Error (failure), which names these places, if there is none.
std::string FindEngineProgram();

// Returns the command of the program found here.
EngineCommand LocalEngine();

// Returns the command for `remote`: user@host or user@host:PROGRAM, by ssh; or several words, such
// as "srun -p gpu midscope", to which `serve --stdio` is appended. Words may be in quotes. Throws
// Error (usage) if it is neither.
EngineCommand RemoteEngine(const std::string& remote);

}  // namespace midscope
