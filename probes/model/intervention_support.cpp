// SPDX-License-Identifier: MIT
#include "probes/model/intervention_support.h"

#include <map>
#include <stdexcept>
#include <utility>

#include "core/base/error.h"
#include "core/intervention/intervention_text.h"
#include "core/intervention/passage.h"
#include "core/intervention/presets.h"
#include "core/plan/attention_plan.h"
#include "kernels/check.h"

namespace midscope {
namespace {

// For terms that cannot stand without arguments, or ask by default for layers that a small model
// lacks.
const std::map<std::string, std::string, std::less<>>& Examples() {
  static const std::map<std::string, std::string, std::less<>> examples = {
      {"pi", "pi(1.5)"},
      {"ms-poe", "ms-poe(first_layer=0)"},
      {"base", "base(500000)"},
      {"ntk", "ntk(2)"},
      {"dynamic-ntk", "dynamic-ntk(2)"},
      {"yarn", "yarn(4)"},
      {"nope", "nope(layers=0)"},
      {"self-extend", "self-extend(group=2, window=64)"},
      {"infini", "infini(segment=64)"},
      {"channel", "channel(0, factor=-1)"},
      {"crop", "crop(span=gold)"},
      {"move", "move(span=gold, to=begin)"},
      {"boost", "boost(span=gold, factor=2)"},
      {"ablate", "ablate(L0H0, with=zero)"},
      {"temperature", "temperature(L0H0, 1.5)"}};
  return examples;
}

// A ratio for every head of the model, as a file would have it.
Intervention AnyRatios(const ModelConfig& config) {
  HeadRatioTable table;
  table.heads = config.heads;
  table.ratios.assign(static_cast<size_t>(config.layers * config.heads), 1.5);
  Intervention intervention;
  intervention.positions = std::move(table);
  return intervention;
}

// Throws std::logic_error for a term that nothing here stands for: a new term needs an example.
Intervention Example(const std::string& term, const ModelConfig& config) {
  if (term == "ratios") return AnyRatios(config);
  const auto example = Examples().find(term);
  try {
    return ParseIntervention(example != Examples().end() ? example->second : term);
  } catch (const Error& error) {
    MIDSCOPE_BUG("no example of the term '" + term + "': " + error.what());
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

// Of presets those that the model can take: they are made for models of other sizes.
InterventionSupport PresetSupport(const ModelConfig& config) {
  InterventionSupport support{"preset", false, "preset: none of them fits this model"};
  for (const Preset& preset : InterventionPresets()) {
    if (!WhyNot(ParseIntervention("preset(" + preset.name + ")"), config).empty()) continue;
    return {"preset", true, ""};
  }
  return support;
}

}  // namespace

std::vector<InterventionSupport> CheckInterventions(const ModelConfig& config) {
  std::vector<InterventionSupport> all;
  for (const Term& term : InterventionTerms()) {
    if (term.name == "none") continue;
    if (term.name == "preset") {
      all.push_back(PresetSupport(config));
      continue;
    }
    const std::string why_not = WhyNot(Example(term.name, config), config);
    all.push_back({term.name, why_not.empty(), why_not});
  }
  return all;
}

}  // namespace midscope
