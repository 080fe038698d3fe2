// SPDX-License-Identifier: MIT
// Makes a record of the score of a given answer.
#pragma once

#include "core/base/record.h"
#include "core/run/scoring.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

// Makes record answer: answer_ids, answer_token_nll [answer_token]; attributes answer, answer_nll
// (nats), correct (0/1).
Record AnswerRecord(const Prompt& prompt, const AnswerScore& score);

}  // namespace midscope
