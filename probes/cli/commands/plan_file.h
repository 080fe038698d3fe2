// SPDX-License-Identifier: MIT
// Reads a command's options from a file.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/base/options.h"

namespace midscope::cli {

// The object of a JSON (.json) or TOML (.toml) file. Throws Error: (failure) the file cannot be
// read, (usage) it is not JSON or TOML (with the line) or no object.
nlohmann::ordered_json ReadPlanFile(const std::string& path);

// The options that the object sets by name, in a set like `command_line`; values set there override
// it. `path` is what errors name. Throws Error (usage): an unknown option, or an invalid value.
OptionSet WithPlanObject(const OptionSet& command_line, const nlohmann::ordered_json& plan,
                         const std::string& path);

// Throws Error (usage) if neither the command line nor the plan names a model.
void RequireModel(const OptionSet& options, const std::string& command);

// The options that a JSON (.json) or TOML (.toml) file sets by name, in a set like `command_line`;
// values set there override the file's. Lists are used for repeated options and for numbers with
// commas: seed = [1, 2]. Throws Error: (failure) the file cannot be read, (usage) it is not JSON or
// TOML (with the line), an unknown option, or an invalid value.
OptionSet WithPlanFile(const OptionSet& command_line, const std::string& path);

}  // namespace midscope::cli
