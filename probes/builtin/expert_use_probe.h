// SPDX-License-Identifier: MIT
// Which experts of a mixture each token uses.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record expert_use: expert and expert_weight [expert_layer, token, choice], largest weight first
// (-1 and 0 where fewer are used); expert_share [expert_layer, expert], the share of the prompt's
// tokens that use it. Axis expert_layer holds the numbers of the layers with experts.
ProbeType ExpertUseProbe();

}  // namespace midscope
