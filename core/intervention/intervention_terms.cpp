// SPDX-License-Identifier: MIT
// All terms: those of the schemes, those of the edits, and preset.
#include "core/base/parameter_kinds.h"
#include "core/intervention/edit_type.h"
#include "core/intervention/intervention_text.h"
#include "core/intervention/presets.h"
#include "core/intervention/scheme_type.h"

namespace midscope {
namespace {

Term PresetTerm() {
  std::vector<std::string> names;
  for (const Preset& preset : InterventionPresets()) names.push_back(preset.name);
  Parameter name = Required(ChoiceParameter("name", "Which one.", names));
  name.default_value = {};
  return {kPresetTerm,
          "A published setting by name; printed forms state what it stands for.",
          "See midscope help presets for each one's models, source and warnings.",
          {name},
          1,
          {"preset(channel-vicuna-7b)"}};
}

}  // namespace

const std::vector<Term>& InterventionTerms() {
  static const std::vector<Term> terms = [] {
    std::vector<Term> all;
    for (const SchemeType& scheme : SchemeTypes()) all.push_back(scheme.term);
    for (const EditType& edit : EditTypes()) all.push_back(edit.term);
    all.push_back(PresetTerm());
    return all;
  }();
  return terms;
}

}  // namespace midscope
