// SPDX-License-Identifier: MIT
// The two tokens whose logits an attribution decomposes.
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
  std::string rule;  // how `against` was found: "other pieces", "vocabulary", "given"
};

// `token`: the answer's first; without an answer the likeliest. `against`: the first token of
// `given`, if that is not empty; else, of tokens in other named pieces that the gold passage lacks,
// that with the largest logit (the best wrong piece); if there are none, the likeliest other token.
// logits [vocabulary] of the last prompt row. Throws Error (usage) if `given` starts with the
// answer's token, or has none.
ComparedTokens FindComparedTokens(const Tokenizer& tokenizer, const Prompt& prompt,
                                  std::span<const float> logits, const std::string& given);

}  // namespace midscope
