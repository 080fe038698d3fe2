// SPDX-License-Identifier: MIT
// Makes a record of a prompt, with token texts and passages for viewers.
#pragma once

#include <cstdint>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/run/scoring.h"
#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope {

// Array [piece] of strings: the answers of the pieces of a task's prompt, in the order of the
// prompt, if every piece has one. The record's attribute first_place is the place of the first
// piece.
inline constexpr const char* kPieceAnswer = "piece_answer";

// Makes record `prompt`, described in probes/engine/engine.h. token_begin is a byte offset into the
// text. `place`: 1-based rank of the gold piece; 0 for own text.
Record PromptRecord(const Prompt& prompt, const Tokenizer& tokenizer, int64_t place);

// Logs a warning if the tokens do not cover the whole text, because the model's vocabulary has no
// token for some bytes.
void LogBytesWithoutToken(const Prompt& prompt, const JobContext& context);

// Makes record answer from the score of a prompt's given answer: answer_ids, answer_token_nll
// [answer_token]; attributes answer, answer_nll (nats), correct (0/1).
Record AnswerRecord(const Prompt& prompt, const AnswerScore& score);

}  // namespace midscope
