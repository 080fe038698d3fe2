// SPDX-License-Identifier: MIT
// The parameters of samplers of position ids as options of a command.
#pragma once

#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/positions/position_sampler.h"

namespace midscope {

// Makes the choice of a sampler, which must be given.
Parameter SamplerChoice(const std::string& name, const std::string& help);

// Returns the parameters of all samplers, grouped by sampler.
std::vector<Parameter> SamplerOptions();

// Throws Error (usage) if an option of a sampler that is not one of `samplers` is set.
void CheckSamplerOptions(const std::vector<const PositionSampler*>& samplers,
                         const OptionSet& options);

}  // namespace midscope
