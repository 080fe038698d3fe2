// SPDX-License-Identifier: MIT
// Token ids with named passages, and the passages' offsets in the text.
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
  std::vector<std::string> tokens;  // text of each token, for labels
  std::vector<PromptSpan> spans;
  std::string answer;  // empty: nothing to score
  std::vector<int32_t> answer_ids;
  // Bytes of the text without a token in the vocabulary: nearly always 0. Otherwise a warning must
  // be shown with the prompt.
  int64_t bytes_without_token = 0;

  const PromptSpan* FindSpan(const std::string& name) const;
};

// Builds a Prompt from a text and its named passages.

// A requested passage: by its bytes, or by its text (which must occur exactly once).
struct SpanRequest {
  ByteSpan span;     // of the prompt's text; only its name is read where `text` is given
  std::string text;  // empty: by bytes
};

// "NAME=START:END" where what follows `=` is two numbers, else "NAME=TEXT". Throws Error (usage).
SpanRequest ParseSpan(std::string_view argument);

// The requested bytes of the text. Throws Error (usage): a text that is absent or
// occurs more than once, bytes outside the text.
ByteSpan FindSpanBytes(const std::string& text, const SpanRequest& request);

// The text tokenised once and whole, special tokens recognised; each span mapped to the tokens that
// overlap its bytes; answer ids are ids(text + answer) after ids(text) where that is a prefix, else
// ids(answer). With `bos`, Tokenizer::begin_ids() are put first (token indices of spans count
// them). Throws Error: bytes outside the text, a name that occurs twice, no tokens, no BOS, a token
// without an embedding row.
Prompt BuildPrompt(const Tokenizer& tokenizer, const std::string& text,
                   const std::vector<ByteSpan>& spans, const std::string& answer, bool bos);

// The file's bytes, unchanged. Throws Error: unreadable, or not UTF-8 (with the offset).
std::string ReadPromptFile(const std::filesystem::path& path);

}  // namespace midscope
