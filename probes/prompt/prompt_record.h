// SPDX-License-Identifier: MIT
// A prompt as a record: what a viewer needs to label tokens and mark passages.
#pragma once

#include <cstdint>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope {

// Record prompt, as probes/engine/engine.h states it. token_begin is a byte offset into the text.
// `place`: the gold piece's 1-based rank; 0 for own text.
Record PromptRecord(const Prompt& prompt, const Tokenizer& tokenizer, int64_t place);

// Says through the context's log when the tokens do not hold all of the text: some bytes have no
// token in the model's vocabulary.
void LogBytesWithoutToken(const Prompt& prompt, const JobContext& context);

}  // namespace midscope
