// SPDX-License-Identifier: MIT
// All logits of the last prompt row.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record last_logits: last_logits [vocabulary] float32.
ProbeType LastLogitsProbe();

}  // namespace midscope
