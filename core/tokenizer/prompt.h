// SPDX-License-Identifier: MIT
// Token ids with named passages, and the passages' ranges in the text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/spans.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope {

// A ByteSpan of the prompt's text together with the TokenSpan of the tokens that overlap it.
struct PromptSpan {
  std::string name;
  int64_t byte_begin = 0;
  int64_t byte_end = 0;
  int64_t token_begin = 0;
  int64_t token_end = 0;
};

struct Prompt {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<std::string> tokens;  // [token]: text for labels
  std::vector<PromptSpan> spans;
  std::string answer;  // if empty, there is nothing to score
  std::vector<int32_t> answer_ids;
  // Number of bytes of the text without a token in the vocabulary: nearly always 0. If not, a
  // warning must be shown with the prompt.
  int64_t bytes_without_token = 0;

  const PromptSpan* FindSpan(const std::string& name) const;
};

// Builds a Prompt from a text and its named passages.

// A requested passage, given by its bytes or by its text (which must occur exactly once).
struct SpanRequest {
  ByteSpan span;     // of the prompt's text; if `text` is given, only the name is used
  std::string text;  // if empty, the passage is given by its bytes
};

// Parses "NAME=START:END" if two numbers follow `=`, else "NAME=TEXT". Throws Error (usage).
SpanRequest ParseSpan(std::string_view argument);

// Returns the requested bytes of the text. Throws Error (usage) if the passage's text is absent or
// occurs more than once, or if its bytes are outside the text.
ByteSpan FindSpanBytes(const std::string& text, const SpanRequest& request);

// Tokenises the text as a whole, with special tokens, and maps each span to the tokens that overlap
// its bytes. If ids(text) is a prefix of ids(text + answer), the answer's ids are the rest of it;
// otherwise they are ids(answer). With `bos`, Tokenizer::begin_ids() are put first (token indices
// of spans include them). Throws Error for bytes outside the text, a duplicate name, no tokens, no
// BOS, or a token without an embedding row.
Prompt BuildPrompt(const Tokenizer& tokenizer, const std::string& text,
                   const std::vector<ByteSpan>& spans, const std::string& answer, bool bos);

// Returns the file's bytes, unchanged. Throws Error if it is unreadable or not UTF-8 (with the
// offset).
std::string ReadPromptFile(const std::filesystem::path& path);

}  // namespace midscope
