// SPDX-License-Identifier: MIT
// By which ratio each head's positions were divided.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record position_ratio: position_ratio [layer, head] float64; 1 where the scheme has no ratio.
ProbeType PositionRatioProbe();

// The same record for ratios [layer, head] that came about elsewhere.
Record PositionRatioRecord(const HeadMatrix& ratio);

}  // namespace midscope
