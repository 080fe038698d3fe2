// SPDX-License-Identifier: MIT
// A prompt as a record: what a viewer needs to label tokens and mark passages.
#pragma once

#include <cstdint>

#include "core/prompt.h"
#include "core/record.h"
#include "core/tokenizer.h"

namespace midscope {

// Record prompt, as probes/engine.h states it. token_begin is a byte offset into the text.
// `place`: the gold piece's 1-based rank; 0 for own text.
Record PromptRecord(const Prompt& prompt, const Tokenizer& tokenizer, int64_t place);

}  // namespace midscope
