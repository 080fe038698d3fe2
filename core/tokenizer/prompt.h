// SPDX-License-Identifier: MIT
// Token ids with named passages, and the passages' offsets in the text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace midscope
