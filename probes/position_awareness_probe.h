// SPDX-License-Identifier: MIT
// Ms-PoE's position-awareness score of every head.
#pragma once

#include "probes/probe.h"

namespace midscope {

// Record position_awareness: position_awareness_score [layer, head] float32, a share of the keys.
ProbeType PositionAwarenessProbe();

}  // namespace midscope
