// SPDX-License-Identifier: MIT
// Binds options to command-line flags. Only this file uses CLI11.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "probes/cli/program/command.h"

namespace midscope::cli {

// Parses the arguments after the command's name into `options` (made of command.options) and
// `common` (made of CommonOptions()). Returns HelpText if they contain --help, ShortHelpText if
// they contain -h, else nullopt. Throws Error (usage) for an unknown option (with the nearest known
// one), a missing or invalid value, or a missing required option.
std::optional<std::string> ParseArguments(const Command& command,
                                          const std::vector<std::string>& arguments,
                                          OptionSet& options, OptionSet& common);

// Returns the text of --help.
std::string HelpText(const Command& command);

// Returns the text of -h: the usage, the summary and the options that are `brief`, one per line. It
// has at most 24 lines of 80 characters.
std::string ShortHelpText(const Command& command);

}  // namespace midscope::cli
