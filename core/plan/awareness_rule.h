// SPDX-License-Identifier: MIT
// Defines which keys Ms-PoE's position-awareness score counts under an intervention.
#pragma once

#include "core/intervention/intervention.h"
#include "kernels/position_awareness.h"

namespace midscope {

// Returns the threshold that the intervention uses. The public code counts keys above it, the paper
// those that reach it; the score follows the intervention's choice and its alpha of Ms-PoE.
kernels::AwarenessThreshold AwarenessRule(const Intervention& intervention);

// Like AwarenessRule above, for the value of a Ms-PoE term.
kernels::AwarenessThreshold AwarenessRule(const MsPoe& scheme);

}  // namespace midscope
