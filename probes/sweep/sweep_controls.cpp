// SPDX-License-Identifier: MIT
#include "probes/sweep/sweep_controls.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/intervention/term_type.h"

namespace midscope {
namespace {

// Different from the streams of tasks and resampling.
constexpr uint64_t kControlStream = 0xc0117201;
// Returns the types of the terms, without duplicates, from last to first: this order determines the
// random controls and must not change.
std::vector<const TermType*> TypesIn(const Intervention& intervention) {
  std::vector<const TermType*> types;
  for (const Term& term : intervention.terms) {
    if (types.empty() || types.back() != &term.type()) types.push_back(&term.type());
  }
  std::reverse(types.begin(), types.end());
  return types;
}

}  // namespace

std::vector<SweepSetting> ControlSettings(const std::vector<SweepSetting>& settings,
                                          const ModelConfig& config, uint64_t seed) {
  std::vector<SweepSetting> controls;
  for (size_t i = 0; i < settings.size(); ++i) {
    SplitMix64 random(seed, kControlStream + i);
    SweepSetting control = settings[i];
    bool any = false;
    for (const TermType* type : TypesIn(control.intervention))
      any |= type->control && type->control(control.intervention, config, random);
    if (!any) continue;
    control.text = control.canonical();
    control.control_of = settings[i].text;
    controls.push_back(std::move(control));
  }
  return controls;
}

std::vector<std::string> SettingsWithoutControl(const std::vector<SweepSetting>& settings) {
  std::vector<std::string> without;
  for (const SweepSetting& setting : settings) {
    if (!setting.control_of.empty()) continue;
    const bool has_one = std::any_of(
        settings.begin(), settings.end(),
        [&](const SweepSetting& control) { return control.control_of == setting.text; });
    if (!has_one && !setting.intervention.empty()) without.push_back(setting.text);
  }
  return without;
}

}  // namespace midscope
