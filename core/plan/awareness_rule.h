// SPDX-License-Identifier: MIT
// Which keys Ms-PoE's position-awareness score counts under an intervention.
#pragma once

#include "core/intervention/intervention.h"
#include "kernels/position_awareness.h"

namespace midscope {

// The public code counts keys over the threshold, the paper those that reach it: what the
// intervention follows, the score follows.
kernels::ThresholdRule AwarenessRule(const Intervention& intervention);

}  // namespace midscope
