// SPDX-License-Identifier: MIT
// Reads a command's options from a file.
#pragma once

#include <string>

#include "core/base/options.h"

namespace midscope::cli {

// The options that a JSON (.json) or TOML (.toml) file sets by name, in a set like `command_line`;
// values set there override the file's. Lists are used for repeated options and for numbers with
// commas: seed = [1, 2]. Throws Error: (failure) the file cannot be read, (usage) it is not JSON or
// TOML (with the line), an unknown option, or an invalid value.
OptionSet WithPlanFile(const OptionSet& command_line, const std::string& path);

}  // namespace midscope::cli
