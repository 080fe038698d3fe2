// SPDX-License-Identifier: MIT
// Describes a prompt: in a line that commands print, and in attributes for files.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

// Number of begin-of-text tokens at the prompt's start: 2 if the text begins with one and another
// one was added.
int64_t BeginOfTextTokens(const Prompt& prompt, const Tokenizer& tokenizer);

// Returns one line: "prompt: 8 tokens, begin-of-text first: [[<s>]]The capital of France is";
// control characters are escaped, control tokens are in double brackets, and the middle of a long
// text is replaced by "...".
std::string SentLine(const Prompt& prompt, const Tokenizer& tokenizer, const PromptFormat& format);

// Logs likely mistakes in own text: a line end at its end, as editors add it, or a byte-order mark
// at its beginning; lines that end in CR LF; an answer that joins the text without a space, or with
// two.
void LogPromptNotes(const Prompt& prompt, const PromptFormat& format, const JobContext& context);

// Writes attributes to a record of the prompt: begin_of_text_tokens, bos (the rule), chat_template
// ("none"), and, if set, system, chat_options, chat_date and chat_template_hash (of a template
// file).
void NoteFormat(const Prompt& prompt, const Tokenizer& tokenizer, const PromptFormat& format,
                Record& record);
// Writes the attributes of the prompt format to a record: bos, chat_template and, if set, system,
// chat_options, chat_date and chat_template_hash; not begin_of_text_tokens.
void NoteFormat(const PromptFormat& format, Record& record);

}  // namespace midscope
