// SPDX-License-Identifier: MIT
// The options of a tuning run and of fitting a lens, shared by the command line and the window's
// form.
#pragma once

#include <vector>

#include "core/base/options.h"
#include "core/base/parameter.h"

namespace midscope {

std::vector<Parameter> TuneOptions();

// The name of the recipe that trains by distillation instead of a position sampler
// (core/tuning/distillation.h).
inline constexpr const char* kDistillation = "pos2distill";
bool Distils(const OptionSet& options);

// Returns the options of `midscope lens` that select the prompts on which the lens is fitted: data,
// field, task, seed, samples and tokens.
std::vector<Parameter> LensPromptOptions();

// Throws Error (usage) unless exactly one of --data and --task is given. Called before a model is
// loaded.
void CheckLensSource(const OptionSet& options);

}  // namespace midscope
