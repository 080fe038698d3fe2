// SPDX-License-Identifier: MIT
// Ms-PoE's position-awareness score of every head.
#pragma once

#include <string>
#include <vector>

#include "core/base/options.h"
#include "kernels/position_awareness.h"
#include "probes/base/probe.h"

namespace midscope {

// Record position_awareness: position_awareness_score [layer, head] float32, a share of the keys.
ProbeType PositionAwarenessProbe();

// The same record for scores [layer, head] computed elsewhere.
Record PositionAwarenessRecord(const ModelConfig& config,
                               const kernels::AwarenessThreshold& threshold,
                               std::vector<float> scores);

// The threshold of a run: --awareness-alpha where it is given, else as the setting has it
// (AwarenessRule).
kernels::AwarenessThreshold AwarenessThresholdOf(const ProbeInput& input);

// ">= 3/tokens", "> 2.5/tokens".
std::string ThresholdText(const kernels::AwarenessThreshold& threshold);

// A number above 0, or `auto`, the default; `help` says what auto is.
Parameter AlphaParameter(const std::string& name, const std::string& help);

}  // namespace midscope
