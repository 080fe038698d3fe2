// SPDX-License-Identifier: MIT
// Drift of queries and keys along position, head by head, and how far position decides which key
// wins.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record key_drift: drift_direction [layer, head, dimension] (unit vectors), key_slope,
// query_centroid, bias_strength (their product), key_position_correlation, attention_plasticity
// [layer, head]. Over several prompts, record key_drift_mean (below).
ProbeType KeyDriftProbe();

// Record key_drift_mean, of a stacked key_drift: mean_key_slope, mean_query_centroid,
// mean_bias_strength, mean_key_position_correlation, mean_attention_plasticity [layer, head], over
// prompts.
Record KeyDriftMean(const Record& stacked);

}  // namespace midscope
