// SPDX-License-Identifier: MIT
// Options of `midscope lens` that state on which prompts it fits. The command line, the window's
// form and their help are made from them.
#pragma once

#include <vector>

#include "core/base/options.h"
#include "core/base/parameter.h"

namespace midscope {

// Returns the options data, field, task, seed, samples and tokens.
std::vector<Parameter> LensPromptOptions();

// Throws Error (usage) unless exactly one of --data and --task is given. Called before a model is
// loaded.
void CheckLensSource(const OptionSet& options);

}  // namespace midscope
