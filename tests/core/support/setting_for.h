// SPDX-License-Identifier: MIT
// Settings for tests that walk the tiny models, of which some do not take every term.
#pragma once

#include <string>

#include "core/intervention/intervention_text.h"
#include "core/model/model_config.h"

namespace midscope::test {

// The setting; of a model with latent keys (MLA), which refuses channel terms, what comes before
// those, or another edit of attention.
inline Intervention SettingFor(const ModelConfig& config, std::string text) {
  constexpr size_t kPlus = 3;  // " + "
  const size_t at = text.find("channel(");
  if (config.latent.used() && at != std::string::npos)
    text = at == 0 ? "temperature(L0H0, 1.7)" : text.substr(0, at - kPlus);
  return ParseIntervention(text);
}

}  // namespace midscope::test
