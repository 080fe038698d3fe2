// SPDX-License-Identifier: MIT
// Direct logit attribution of the answer: which heads, layers and keys make the difference between
// the answer's logit and that of the best wrong piece.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record answer_attribution, in logits before the final soft cap: answer_attribution [layer, head];
// with --attribution-keys answer_attribution_by_key [layer, head, key], answer_attribution_of_key
// [key] (summed over layers and heads), answer_attribution_without_key [layer, head];
// attribution_of_part [part, layer] (heads, attention bias, mlp). Attributes embedding_attribution
// and constant_attribution complete the sum, attribution_sum; logit_difference is the run's own,
// attribution_rounding the difference of both. Over several prompts, record
// answer_attribution_by_place (below).
ProbeType AnswerAttributionProbe();

// Record answer_attribution_by_place, of a stacked answer_attribution: mean_answer_attribution
// [place, layer, head], mean_attribution_of_part [place, part, layer], mean_logit_difference
// [place], over samples.
Record AnswerAttributionByPlace(const Record& stacked);

}  // namespace midscope
