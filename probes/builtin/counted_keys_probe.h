// SPDX-License-Identifier: MIT
// The keys that Ms-PoE's position-awareness score counts.
#pragma once

#include <vector>

#include "kernels/position_awareness.h"
#include "probes/base/probe.h"

namespace midscope {

// Record counted_keys: counted_keys [layer, head, key] boolean; attributes threshold (">=
// 3/tokens"), alpha and threshold_weight, which is alpha / tokens.
ProbeType CountedKeysProbe();

// The same record for keys [layer, head, key] marked elsewhere.
Record CountedKeysRecord(const ModelConfig& config, int64_t keys,
                         const kernels::AwarenessThreshold& threshold,
                         std::vector<uint8_t> counted);

}  // namespace midscope
