// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a setting can run on a model, before it is run.
#pragma once

#include <QString>

#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "core/terms/presets.h"

namespace midscope {

// Why the model cannot take the setting (its layers, heads, channels, positions); "" where it can.
// Passages are not checked: they are of a prompt.
QString WhyNotOn(const Intervention& setting, const ModelConfig& config);

// Whether the preset was published for this model, judged by the model's name.
bool IsPublishedFor(const Preset& preset, const ModelConfig& config);

}  // namespace midscope
