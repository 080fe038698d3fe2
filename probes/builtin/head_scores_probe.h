// SPDX-License-Identifier: MIT
// Measures of a head's position awareness: Ms-PoE's score by both rules, before and after rotation,
// with entropies, ranks and the resulting ratios.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record head_scores, all [layer, head]: score_at_least, score_greater (before rotation: >= and >
// 3 / tokens), score_at_least_rotated, score_greater_rotated, row_entropy, row_entropy_rotated
// (nats), head_rank (0: most position-aware of its layer; by the rule of --score-rule, stable),
// ratio_under, key_ratio_under (of --ratios-under). Over several prompts, record
// head_score_stability (below).
ProbeType HeadScoresProbe();

// Record head_score_stability, of stacked head_scores: score_spearman, score_kendall [layer] (means
// over pairs of prompts, the heads of a layer ordered by their scores), rank_mean, rank_deviation
// [layer, head]; attributes spearman_all_heads, kendall_all_heads (the heads of all layers
// together), pairs. NaN where there are fewer than two prompts.
Record HeadScoreStability(const Record& stacked);

}  // namespace midscope
