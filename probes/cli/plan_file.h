// SPDX-License-Identifier: MIT
// A command's options out of a file.
#pragma once

#include <string>

#include "core/base/options.h"

namespace midscope::cli {

// The options that a JSON (.json) or TOML (.toml) file gives by their names, in a set like
// `command_line`; what was set there overrides the file's. Lists stand where the command line takes
// an option more than once or numbers with commas: seed = [1, 2]. Throws Error: (failure) the file
// cannot be read, (usage) it is not JSON or TOML (with the line), names what is no option, or a
// value does not fit.
OptionSet WithPlanFile(const OptionSet& command_line, const std::string& path);

}  // namespace midscope::cli
