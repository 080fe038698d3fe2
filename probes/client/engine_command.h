// SPDX-License-Identifier: MIT
// The command that starts an engine process: here, on another machine by ssh, or by any command
// that passes standard input and output on.
#pragma once

#include <string>
#include <vector>

namespace midscope {

struct EngineCommand {
  std::vector<std::string> words;  // {"midscope", "serve", "--stdio"}
  bool remote = false;  // whether the command may run on another machine, with other files
};

// Returns the path of a program beside the running program, or on PATH; "" if there is none.
std::string FindProgram(const std::string& name);

// Returns the path of the program `midscope`: the environment variable MIDSCOPE_PROGRAM, else in
// the folder of the running program, else on PATH. Throws Error (failure), which names these
// places, if there is none.
std::string FindEngineProgram();

// Returns the command that runs the program of FindEngineProgram() on this machine.
EngineCommand LocalEngine();

// Returns the command that starts an engine on another machine. `remote`: user@host or
// user@host:PROGRAM, for ssh; or a command of several words, such as "srun -p gpu midscope", to
// which `serve --stdio` is appended. Words may be in quotes. Throws Error (usage) if it is neither.
EngineCommand RemoteEngine(const std::string& remote);

}  // namespace midscope
