// SPDX-License-Identifier: MIT
// Generates text and makes a record of it.
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
//   text        what the tokens are together, without a character that is begun and not finished
//   greedy      1: every token is the likeliest; 0: tokens are drawn
//   ended       1: a token came that ends the text; it is not among the tokens
//   cut         1: the limit of new tokens, or the context, ended it
//   empty       1: the text has nothing but white space
//   complete    0: the text goes on (partial), else 1
//   new_tokens  the limit
// clang-format on
// `whole` is null while text is still being generated.
Record GenerationRecord(const Tokenizer& tokenizer, const std::vector<GeneratedToken>& tokens,
                        const GenerateOptions& options, const Generated* whole);

// Continues the prompt with the likeliest tokens (core/run/generate.h), at most `new_tokens`.
// `partial` gets the record so far, at most ten times a second. `intervention` may name passages;
// its patches must already have their values. Throws Error (usage) if the prompt does not fit,
// Cancelled.
Record GenerateText(const Decoder& decoder, const Prompt& prompt, const Intervention& intervention,
                    int64_t new_tokens, const std::function<void(const Record&)>& partial,
                    const JobContext& context);

}  // namespace midscope
