// SPDX-License-Identifier: MIT
#include "core/positions/position_sampler.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/positions/samplers.h"

namespace midscope {

const std::vector<PositionSampler>& PositionSamplers() {
#define MIDSCOPE_LIST_SAMPLER(NAME) NAME::Sampler(),
  static const std::vector<PositionSampler> samplers = {
      MIDSCOPE_POSITION_SAMPLERS(MIDSCOPE_LIST_SAMPLER)};
#undef MIDSCOPE_LIST_SAMPLER
  return samplers;
}

const PositionSampler* FindPositionSampler(std::string_view name) {
  for (const PositionSampler& sampler : PositionSamplers()) {
    if (sampler.name == name) return &sampler;
  }
  return nullptr;
}

DrawPositions PreparePositions(const PositionSampler& sampler, const PositionRequest& request,
                               const OptionSet& options) {
  const std::string thing = "sampler " + sampler.name;
  if (request.tokens < 1) {
    throw UsageError(thing, "a sample of " + std::to_string(request.tokens) + " tokens",
                     "Samples have at least one token");
  }
  if (request.context < request.tokens) {
    throw UsageError(thing,
                     "a context of " + std::to_string(request.context) +
                         " positions is shorter than a sample of " +
                         std::to_string(request.tokens) + " tokens",
                     "Give a longer context or fewer tokens");
  }
  if (request.context > kLargestPositionContext) {
    throw UsageError(thing,
                     "a context of " + std::to_string(request.context) + " positions is too long",
                     "At most " + std::to_string(kLargestPositionContext));
  }
  if (request.DocumentTokens() < request.tokens) {
    throw UsageError(thing,
                     "a document of " + std::to_string(request.document) +
                         " tokens is shorter than a sample of " + std::to_string(request.tokens),
                     "Leave out shorter documents, as the public code does, or join them");
  }
  return sampler.prepare(request, options);
}

Parameter SamplerChoice(const std::string& name, const std::string& help) {
  std::vector<std::string> names = NamesIn(PositionSamplers());
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
