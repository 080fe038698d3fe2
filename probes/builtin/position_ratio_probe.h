// SPDX-License-Identifier: MIT
// The ratio by which each head's positions were divided.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record position_ratio: position_ratio [layer, head] float64; 1 where the scheme has no ratio.
ProbeType PositionRatioProbe();

// The same record for ratios [layer, head] computed elsewhere.
Record PositionRatioRecord(const HeadMatrix& ratio);

}  // namespace midscope
