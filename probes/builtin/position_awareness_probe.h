// SPDX-License-Identifier: MIT
// Ms-PoE's position-awareness score of every head.
#pragma once

#include <vector>

#include "kernels/position_awareness.h"
#include "probes/base/probe.h"

namespace midscope {

// Record position_awareness: position_awareness_score [layer, head] float32, a share of the keys.
ProbeType PositionAwarenessProbe();

// The same record for scores [layer, head] computed elsewhere.
Record PositionAwarenessRecord(const ModelConfig& config, kernels::ThresholdRule rule,
                               std::vector<float> scores);

}  // namespace midscope
