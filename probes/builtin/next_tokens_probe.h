// SPDX-License-Identifier: MIT
// The most likely next tokens.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/record.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/base/probe.h"

namespace midscope {

// Record next_tokens: token_text, next_token_ids, logit, probability [rank]; --top of them. Where
// the prompt has an answer, attributes of its first token: answer_token, answer_token_text,
// answer_rank (0: the likeliest of all), answer_probability, answer_logit.
ProbeType NextTokensProbe();

// The same record of logits [vocabulary]. `answer`: the answer's tokens; may be empty.
Record NextTokensRecord(const Tokenizer& tokenizer, std::span<const float> logits, int64_t top,
                        std::span<const int32_t> answer);

}  // namespace midscope
