// SPDX-License-Identifier: MIT
// The most likely next tokens.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/record.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/base/probe.h"

namespace midscope {

// Record next_tokens: token_text, next_token_ids, logit, probability [rank]; --top of them.
ProbeType NextTokensProbe();

// The same record of logits [vocabulary].
Record NextTokensRecord(const Tokenizer& tokenizer, std::span<const float> logits, int64_t top);

}  // namespace midscope
