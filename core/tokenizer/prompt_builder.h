// SPDX-License-Identifier: MIT
// Builds a Prompt from a text and its named passages.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope {

// A requested passage: by its text (which must occur exactly once) or by its bytes.
struct SpanRequest {
  std::string name;
  std::string text;        // empty: by bytes
  int64_t byte_begin = 0;  // bytes [byte_begin, byte_end) of the prompt's text
  int64_t byte_end = 0;
};

// "NAME=START:END" where what follows `=` is two numbers, else "NAME=TEXT". Throws Error (usage).
SpanRequest ParseSpan(std::string_view argument);

// The requested bytes [begin, end) of the text. Throws Error (usage): a text that is absent or
// occurs more than once, bytes outside the text.
std::pair<int64_t, int64_t> FindSpanBytes(const std::string& text, const SpanRequest& request);

// The text tokenised once and whole, special tokens recognised; each span mapped to the tokens that
// overlap its bytes; answer ids are ids(text + answer) after ids(text) where that is a prefix, else
// ids(answer). With `bos`, the model's BOS is put first (token indices of spans count it). Throws
// Error: a span's text that is absent or ambiguous, bytes outside the text, no tokens, no BOS.
Prompt BuildPrompt(const Tokenizer& tokenizer, const std::string& text,
                   const std::vector<SpanRequest>& spans, const std::string& answer, bool bos);

// The file's bytes, unchanged. Throws Error: unreadable, or not UTF-8 (with the offset).
std::string ReadPromptFile(const std::filesystem::path& path);

}  // namespace midscope
