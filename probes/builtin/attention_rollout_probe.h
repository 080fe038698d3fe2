// SPDX-License-Identifier: MIT
// Attention rollout of the last row with measured shares of the residual stream: how much of the
// last token's stream goes back to each token, layer by layer.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record attention_rollout: attention_rollout [layer, key], the row of shares when `layer` is
// entered (it sums to 1 where patterns do); attention_share [layer], the share lambda of the
// attention's update in the stream; gold_rollout [layer] where there is a span gold. Over several
// prompts, record attention_rollout_by_place (below). Memory is linear in the prompt; time is that
// of two more runs and of every row's pattern.
ProbeType AttentionRolloutProbe();

// Record attention_rollout_by_place, of a stacked attention_rollout with gold: mean_gold_rollout
// [place, layer], over samples.
Record AttentionRolloutByPlace(const Record& stacked);

}  // namespace midscope
