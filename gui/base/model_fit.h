// SPDX-License-Identifier: GPL-3.0-or-later
// Checks whether a setting can run on a model, before it is run.
#pragma once

#include <QString>

#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "core/terms/presets.h"

namespace midscope {

// Why the setting does not fit the model (its layers, heads, channels, positions), or "" if it
// does. Passages are not checked, because they belong to a prompt.
QString WhyNotOn(const Intervention& setting, const ModelConfig& config);

// Whether the preset was published for this model; decided by the model's name.
bool IsPublishedFor(const Preset& preset, const ModelConfig& config);

}  // namespace midscope
