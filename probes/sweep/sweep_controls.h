// SPDX-License-Identifier: MIT
// The control arm of a sweep: random variants of interventions, to separate the effect of the
// chosen channel or order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model_config.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// Returns one control per setting that scales channels (control: other, random channels with the
// same factors, layers and rows), orders heads by score (order=random) or has ratios from a file
// (each layer's ratios in random order). Other settings get no control, nor do those without an
// alternative. `control_of` names the setting. The same settings and seed give the same controls.
std::vector<SweepSetting> ControlSettings(const std::vector<SweepSetting>& settings,
                                          const ModelConfig& config, uint64_t seed);

// Returns the texts of the settings, in a list that includes controls, that change something and
// have no control.
std::vector<std::string> SettingsWithoutControl(const std::vector<SweepSetting>& settings);

}  // namespace midscope
