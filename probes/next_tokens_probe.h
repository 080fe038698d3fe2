// SPDX-License-Identifier: MIT
// The likeliest next tokens.
#pragma once

#include "probes/probe.h"

namespace midscope {

// Record next_tokens: token_text, next_token_ids, logit, probability [rank]; --top of them.
ProbeType NextTokensProbe();

}  // namespace midscope
