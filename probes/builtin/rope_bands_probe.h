// SPDX-License-Identifier: MIT
// The last query's attention logit towards gold, first and last tokens, by rotary pair: which
// frequencies make a head look near or far.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record rope_bands, axis `target` being gold (where there is such a span), first and last:
// rope_bands [target, layer, head, rotary_pair], unrotated_logit, target_logit (the sum of both)
// [target, layer, head], means over the target's tokens; wavelength [layer, rotary_pair] in tokens.
// NaN: pairs of layers that do not rotate, targets that a sliding window hides. Over several
// prompts, record rope_bands_by_place (below).
ProbeType RopeBandsProbe();

// Record rope_bands_by_place, of a stacked rope_bands: mean_rope_bands [place, target, layer, head,
// rotary_pair], mean_target_logit [place, target, layer, head], over samples.
Record RopeBandsByPlace(const Record& stacked);

}  // namespace midscope
