// SPDX-License-Identifier: MIT
// The direction in which the residual stream moves with position.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record position_direction: position_direction [layer, channel] (unit vectors, Cov(x, t) over the
// prompt's rows of the stream after the block), position_slope (what the stream gains along it per
// token) and position_correlation [layer]. Over several prompts, record position_direction_mean:
// the same with `mean_` before the names.
ProbeType PositionDirectionProbe();

}  // namespace midscope
