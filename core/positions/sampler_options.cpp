// SPDX-License-Identifier: MIT
#include "core/positions/sampler_options.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace midscope {

Parameter SamplerChoice(const std::string& name, const std::string& help) {
  std::vector<std::string> names;
  for (const PositionSampler& sampler : PositionSamplers()) names.push_back(sampler.name);
  Parameter choice = ChoiceParameter(name, help, names);
  choice.default_value = {};
  return Required(choice);
}

std::vector<Parameter> SamplerOptions() {
  std::vector<Parameter> options;
  for (const PositionSampler& sampler : PositionSamplers()) {
    for (Parameter& parameter : InGroup("Sampler " + sampler.name, sampler.parameters))
      options.push_back(std::move(parameter));
  }
  return options;
}

void CheckSamplerOptions(const std::vector<const PositionSampler*>& samplers,
                         const OptionSet& options) {
  for (const PositionSampler& sampler : PositionSamplers()) {
    if (std::find(samplers.begin(), samplers.end(), &sampler) != samplers.end()) continue;
    for (const Parameter& parameter : sampler.parameters) {
      if (!options.IsSet(parameter.name)) continue;
      throw UsageError("option --" + parameter.name, "it belongs to the sampler " + sampler.name,
                       "Leave it out, or use that sampler");
    }
  }
}

}  // namespace midscope
