// SPDX-License-Identifier: MIT
// The attention of the last prompt token, by head.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record last_query_attention: last_query_attention [layer, head, key] float32, key = prompt
// tokens.
ProbeType LastQueryAttentionProbe();

// The same record for weights [layer, head, key] computed elsewhere.
Record LastQueryAttentionRecord(const ModelConfig& config, int64_t keys,
                                std::vector<float> attention);

}  // namespace midscope
