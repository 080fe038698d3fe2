// SPDX-License-Identifier: MIT
// The control arm of a sweep: the same change made at random, to tell what is due to the channel or
// the order that was chosen.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model_config.h"
#include "probes/sweep_plan.h"

namespace midscope {

// One control for each setting that scales channels (other channels, drawn by the seed, with the
// same factors, layers and rows) or orders heads by score (order=random); none for the others.
// `control_of` names the setting. The same settings and seed give the same controls.
std::vector<SweepSetting> ControlSettings(const std::vector<SweepSetting>& settings,
                                          const ModelConfig& config, uint64_t seed);

}  // namespace midscope
