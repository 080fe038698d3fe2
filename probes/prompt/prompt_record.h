// SPDX-License-Identifier: MIT
// A prompt as a record, with token texts and passages for viewers.
#pragma once

#include <cstdint>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope {

// Answers of the pieces of a task's prompt, where each has one: [piece], strings, in the order of
// the prompt. The attribute first_place is the place of the first piece.
inline constexpr const char* kPieceAnswer = "piece_answer";

// Record prompt, see probes/engine/engine.h. token_begin is a byte offset into the text. `place`:
// the gold piece's 1-based rank; 0 for own text.
Record PromptRecord(const Prompt& prompt, const Tokenizer& tokenizer, int64_t place);

// Logs a warning where the tokens do not cover the whole text: some bytes have no token in the
// model's vocabulary.
void LogBytesWithoutToken(const Prompt& prompt, const JobContext& context);

}  // namespace midscope
