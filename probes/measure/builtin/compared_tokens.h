// SPDX-License-Identifier: MIT
// The two tokens whose logit difference an attribution decomposes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope {

struct ComparedTokens {
  int32_t token = 0;
  int32_t against = 0;
  std::string rule;  // how `against` was chosen: "other pieces", "vocabulary", "given"
};

// Chooses `token`, the first token of the answer or, without an answer, the likeliest token; and
// `against`: the first token of `given` if that is not empty; otherwise, among tokens of other
// named pieces that the gold passage lacks, the one with the largest logit (the best wrong piece);
// if there are none, the likeliest other token. `logits`: [vocabulary], of the last prompt row.
// Throws Error (usage) if `given` begins with the answer's token or has no tokens.
ComparedTokens FindComparedTokens(const Tokenizer& tokenizer, const Prompt& prompt,
                                  std::span<const float> logits, const std::string& given);

}  // namespace midscope
