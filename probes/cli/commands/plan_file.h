// SPDX-License-Identifier: MIT
// Reads a command's options from a file.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/base/options.h"

namespace midscope::cli {

// Reads the object in a JSON (.json) or TOML (.toml) file. Throws Error: (failure) if the file
// cannot be read, (usage) if it is not JSON or TOML (with the line) or not an object.
nlohmann::ordered_json ReadPlanFile(const std::string& path);

// Returns `command_line`, completed by options of the object `plan` that the command line does not
// set. Error messages name `path`. Throws Error (usage) for an unknown option or an invalid value.
OptionSet WithPlanObject(const OptionSet& command_line, const nlohmann::ordered_json& plan,
                         const std::string& path);

// Throws Error (usage) if neither the command line nor the plan names a model.
void RequireModel(const OptionSet& options, const std::string& command);

// Returns `command_line`, completed by the options in a JSON (.json) or TOML (.toml) file. In the
// file, repeated options and comma-separated numbers are lists: seed = [1, 2]. Throws Error:
// (failure) if the file cannot be read, (usage) if it is not JSON or TOML (with the line), or for
// an unknown option or an invalid value.
OptionSet WithPlanFile(const OptionSet& command_line, const std::string& path);

}  // namespace midscope::cli
