// SPDX-License-Identifier: MIT
#include "core/base/shell_text.h"

namespace midscope {

std::string ShellQuoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + quoted + "'";
}

std::string ShellCommand(const std::string& program, const std::vector<std::string>& arguments) {
  std::string line = program;
  for (const std::string& argument : arguments) {
    const bool plain = !argument.empty() &&
                       argument.find_first_of(" \t\n\"'\\$`()[]{}*?|&;<>~#!") == std::string::npos;
    line += " " + (plain ? argument : ShellQuoted(argument));
  }
  return line;
}

}  // namespace midscope
