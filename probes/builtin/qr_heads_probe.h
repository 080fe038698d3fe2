// SPDX-License-Identifier: MIT
// Query-focused retrieval heads: attention of the question on the gold, less that of a question
// without content.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record qr_heads: qr_score, question_attention, null_question_attention [layer, head]. Over
// several prompts, record qr_heads_mean (below). Runs the prompt a second time, with
// --null-question in place of the question.
ProbeType QrHeadsProbe();

// Record qr_heads_mean, of a stacked qr_heads: mean_qr_score [layer, head] over prompts,
// qr_score_by_place [place, layer, head] over samples.
Record QrHeadsMean(const Record& stacked);

}  // namespace midscope
