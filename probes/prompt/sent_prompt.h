// SPDX-License-Identifier: MIT
// What was put to the model, in words: for the line that commands print, and for files.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

// How many of the prompt's first tokens are the model's begin-of-text token: 2 where the text
// begins with one that is written out and another one was put before it.
int64_t BeginOfTextTokens(const Prompt& prompt, const Tokenizer& tokenizer);

// One line: "prompt: 8 tokens, begin-of-text first: [[<s>]]The capital of France is"; control
// characters are shown, tokens that steer stand in double brackets, and the middle of a long text
// is left out ("..."). `mark` stands behind the number of tokens (" *", for a footnote).
std::string SentLine(const Prompt& prompt, const Tokenizer& tokenizer, const PromptFormat& format,
                     const std::string& mark = "");

// Says through the context's log what is likely a mistake in own text: it ends in a line end, as
// editors write one, or begins with a byte-order mark; the answer and the text would join into one
// word, or two spaces stand between them.
void LogPromptNotes(const Prompt& prompt, const PromptFormat& format, const JobContext& context);

// Notes it in the attributes of a record of the prompt: begin_of_text_tokens, bos (the rule),
// chat_template ("none"), and where they were given system, chat_options, chat_date,
// chat_template_hash (of a file's).
void NoteFormat(const Prompt& prompt, const Tokenizer& tokenizer, const PromptFormat& format,
                Record& record);
// The same without what only a prompt has.
void NoteFormat(const PromptFormat& format, Record& record);

}  // namespace midscope
