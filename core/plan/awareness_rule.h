// SPDX-License-Identifier: MIT
// Which keys Ms-PoE's position-awareness score counts under an intervention.
#pragma once

#include "core/intervention/intervention.h"
#include "kernels/position_awareness.h"

namespace midscope {

// The public code counts keys over the threshold, the paper those that reach it: what the
// intervention follows, the score follows; so it does with Ms-PoE's alpha.
kernels::AwarenessThreshold AwarenessRule(const Intervention& intervention);

// As above, for Ms-PoE's own value.
kernels::AwarenessThreshold AwarenessRule(const MsPoe& scheme);

}  // namespace midscope
