// SPDX-License-Identifier: MIT
// Generates text after a prompt and makes record `generation` of it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/intervention/intervention.h"
#include "core/run/generate.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

// Returns record `generation`: new_token_ids, new_token_text, new_token_probability [new_token];
// attributes
// clang-format off
//   text        the text of the tokens, without an incomplete character at the end
//   greedy      1: every token is the likeliest; 0: tokens are drawn
//   ended       1: generation stopped at an end token, which is not among the tokens
//   cut         1: generation stopped at the limit of new tokens or of the context
//   empty       1: the text is only white space
//   complete    0: partial record, generation continues; else 1
//   new_tokens  the limit
// clang-format on
// `whole` is null while text is still being generated.
Record GenerationRecord(const Tokenizer& tokenizer, const std::vector<GeneratedToken>& tokens,
                        const GenerateOptions& options, const Generated* whole);

// Continues the prompt with the likeliest tokens (core/run/generate.h), at most `new_tokens`.
// `partial` gets record generation so far, at most ten times a second. `intervention` may name
// passages of the prompt; the values of its patches must already be set. Throws Error (usage) if
// the prompt does not fit the context; Cancelled.
Record GenerateText(const Decoder& decoder, const Prompt& prompt, const Intervention& intervention,
                    int64_t new_tokens, const std::function<void(const Record&)>& partial,
                    const JobContext& context);

}  // namespace midscope
