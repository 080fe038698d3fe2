// SPDX-License-Identifier: MIT
// Texts as a POSIX shell reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// In single quotes, whatever it holds.
std::string ShellQuoted(std::string_view text);

// The program and its arguments; those that a shell would read otherwise are quoted.
std::string ShellCommand(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace midscope
