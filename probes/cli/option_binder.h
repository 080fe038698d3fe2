// SPDX-License-Identifier: MIT
// Described options as command-line flags: the one place where CLI11 meets core/base/options.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "probes/cli/command.h"

namespace midscope::cli {

// Reads the arguments after the command's name into `options` (made of command.options). The help
// text where --help stands among them, else nothing. Throws Error (usage): an unknown option (with
// the nearest known one), a value that is missing or not allowed, one that must be given.
std::optional<std::string> ParseArguments(const Command& command,
                                          const std::vector<std::string>& arguments,
                                          OptionSet& options);

// What --help prints.
std::string HelpText(const Command& command);

}  // namespace midscope::cli
