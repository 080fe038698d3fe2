// SPDX-License-Identifier: MIT
// The residual stream's last prompt rows after every block.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record residual_rows: residual [layer, position, hidden] float32. Runs where --residual-rows > 0.
ProbeType ResidualRowsProbe();

}  // namespace midscope
