// SPDX-License-Identifier: MIT
// Attention sinks: how many heads put much of their weight on the first tokens.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record sink_share, for the first --sink-keys tokens: sink_weight [layer, head, key], the weight
// of a key, of the last row or (--sink-rows all) mean over the rows that see it; sink_share [layer,
// key], the share of heads with more than --sink-epsilon; sink_share_of_all [key].
ProbeType SinkShareProbe();

}  // namespace midscope
