// SPDX-License-Identifier: MIT
// The control arm of a sweep: the same change at random, to separate the effect of the chosen
// channel or order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model_config.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// One control per setting that scales channels (other channels, drawn by the seed, with the same
// factors, layers and rows), orders heads by score (order=random) or has ratios from a file (each
// layer's assigned to its heads in a random order); none for the others, nor where nothing else can
// be drawn. `control_of` names the setting. The same settings and seed give the same controls.
std::vector<SweepSetting> ControlSettings(const std::vector<SweepSetting>& settings,
                                          const ModelConfig& config, uint64_t seed);

// Texts of those settings, among settings with their controls, that change something and have none.
std::vector<std::string> SettingsWithoutControl(const std::vector<SweepSetting>& settings);

}  // namespace midscope
