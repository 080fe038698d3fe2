// SPDX-License-Identifier: MIT
// Heads that copy: while the answer is teacher-forced, their largest weight is on the same token in
// the gold passage.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record retrieval_heads, all [layer, head]: retrieval_score (share of the answer's tokens that the
// head copies from the gold), gold_top_share (share of the answer's tokens at which its largest
// weight is in the gold, on any token), copied_gold_share (distinct tokens of the gold that it
// copies, over the gold's tokens). Over several prompts, record retrieval_heads_mean (the same
// three, means over prompts). Needs a span `gold` and an answer.
ProbeType RetrievalHeadsProbe();

}  // namespace midscope
