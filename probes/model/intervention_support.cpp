// SPDX-License-Identifier: MIT
#include "probes/model/intervention_support.h"

#include <stdexcept>

#include "core/base/error.h"
#include "core/intervention/passage.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"
#include "core/terms/presets.h"
#include "core/terms/terms.h"

namespace midscope {
namespace {

// Returns the example with the first layer that has attention in place of layer 0.
std::string WithAttention(std::string example, const ModelConfig& config) {
  int64_t layer = 0;
  while (layer + 1 < config.layers && !config.HasAttention(layer)) ++layer;
  for (const std::string& before : {std::string("L"), std::string("layers=")}) {
    const size_t found = example.find(before + "0");
    if (found != std::string::npos)
      example.replace(found + before.size(), 1, std::to_string(layer));
  }
  return example;
}

// Returns an example of a term. Throws std::logic_error if its description has none that can be
// parsed.
Intervention Example(const TermType& term, const ModelConfig& config) {
  if (term.sample) return term.sample(config);
  try {
    return ParseIntervention(WithAttention(term.small_example, config));
  } catch (const Error& error) {
    throw std::logic_error("no example of the term '" + term.name + "': " + error.what());
  }
}

std::string WhyNot(const Intervention& intervention, const ModelConfig& config) {
  try {
    CompilePlans(WithAnyPassages(intervention), config, config.trained_context);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// Presets are for models of certain sizes, so one that fits is enough.
InterventionSupport PresetSupport(const ModelConfig& config) {
  for (const Preset& preset : InterventionPresets()) {
    if (WhyNot(ParseIntervention(preset.text), config).empty()) return {kPresetTerm, true, ""};
  }
  return {kPresetTerm, false, "preset: none of them fits this model"};
}

}  // namespace

std::vector<InterventionSupport> CheckInterventions(const ModelConfig& config) {
  std::vector<InterventionSupport> all;
  for (const TermType& term : TermTypes()) {
    if (term.name == "none") continue;
    if (term.name == kPresetTerm) {
      all.push_back(PresetSupport(config));
      continue;
    }
    const std::string why_not = WhyNot(Example(term, config), config);
    all.push_back({term.name, why_not.empty(), why_not});
  }
  return all;
}

}  // namespace midscope
