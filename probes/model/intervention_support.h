// SPDX-License-Identifier: MIT
// Finds the interventions that a model supports.
#pragma once

#include <string>
#include <vector>

#include "core/model/model_config.h"

namespace midscope {

struct InterventionSupport {
  std::string term;  // "ms-poe"
  bool supported = false;
  std::string why_not;  // "" if supported
};

// Checks every term of the intervention text except `none` by compiling an example for the model,
// with arbitrary ratios and passages. `preset` counts as supported if at least one preset is.
std::vector<InterventionSupport> CheckInterventions(const ModelConfig& config);

}  // namespace midscope
