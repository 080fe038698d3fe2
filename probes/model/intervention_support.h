// SPDX-License-Identifier: MIT
// Which interventions a model can take.
#pragma once

#include <string>
#include <vector>

#include "core/model/model_config.h"

namespace midscope {

struct InterventionSupport {
  std::string term;  // "ms-poe"
  bool supported = false;
  std::string why_not;  // "" if it is
};

// Support of every term of the intervention text except `none`: an example of it is compiled for
// the model, with any ratios and any passages. `preset` is supported where one of the presets is.
std::vector<InterventionSupport> CheckInterventions(const ModelConfig& config);

}  // namespace midscope
