// SPDX-License-Identifier: MIT
// The largest values of the residual stream after each block.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record massive_activations: activation (signed), activation_token, activation_channel,
// activation_token_text [layer, rank], largest magnitude first; median_magnitude [layer];
// massive_count [layer], the values that are massive by the paper's rule.
ProbeType MassiveActivationsProbe();

}  // namespace midscope
