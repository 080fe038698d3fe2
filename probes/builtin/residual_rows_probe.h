// SPDX-License-Identifier: MIT
// Chosen prompt rows of the residual stream after every block.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record residual_rows: residual [layer, position, hidden] float32. Runs where
// --residual-rows > 0 (the last ones) or --residual-at names rows or passages.
ProbeType ResidualRowsProbe();

}  // namespace midscope
