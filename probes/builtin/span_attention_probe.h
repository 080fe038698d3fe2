// SPDX-License-Identifier: MIT
// The last prompt token's attention on the prompt's named passages, and whether a head's attention
// follows the gold when it moves.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record span_attention: span_attention_sum, span_attention_mean [layer, head, span] (gold first,
// then the others in the text's order); attention_centre, attention_centre_after_sink,
// attention_entropy, sink_mass [layer, head]; where there is a span `gold` gold_attention,
// gold_over_uniform [layer, head]. Over several prompts, record gold_following (below).
ProbeType SpanAttentionProbe();

// Record gold_following, of a stacked span_attention with gold: gold_attention, gold_over_uniform,
// gold_attention_centre [place, layer, head], means over samples; gold_over_uniform_least,
// centre_place_correlation [layer, head].
Record GoldFollowing(const Record& stacked);

}  // namespace midscope
