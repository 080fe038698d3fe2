// SPDX-License-Identifier: MIT
// Attention of chosen prompt rows, where the last one's is not the question: what a gold passage
// reads while it is written, what the question reads.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record attention_rows: row_attention [layer, head, row, key] float32, 0 for keys behind the row.
// Runs where --attention-at names rows or passages.
ProbeType AttentionRowsProbe();

}  // namespace midscope
