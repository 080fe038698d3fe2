// SPDX-License-Identifier: MIT
// The options of a tuning run, shared by the command line and the window's form.
#pragma once

#include <vector>

#include "core/base/options.h"

namespace midscope {

std::vector<Parameter> TuneOptions();

// The recipe that is not a position sampler (core/tuning/distillation.h).
inline constexpr const char* kDistillation = "pos2distill";
bool Distils(const OptionSet& options);

}  // namespace midscope
