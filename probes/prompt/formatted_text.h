// SPDX-License-Identifier: MIT
// A text inside its format (prompt_format.h), with the offsets of its passages and its answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tokenizer/prompt.h"
#include "data/tasks/task.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

// The formatted text.
struct FormattedText {
  std::string text;
  bool add_bos = false;    // BOS must be added before `text`
  bool templated = false;  // `text` is a chat template's output
  // Offset of the sample's own text: its byte b is at b + shift; the template kept bytes [begin,
  // end) of it (templates may trim). Not searched in a template where the sample has no spans.
  int64_t shift = 0;
  int64_t begin = 0;
  int64_t end = 0;

  // The spans in bytes of `text`.
  std::vector<ByteSpan> Shifted(const std::vector<ByteSpan>& spans) const;
  // After a template that ends in white space the answer has no leading space, after others it has
  // one; after plain text it is unchanged.
  std::string AnswerAfter(const std::string& answer) const;
};

// Throws Error: (usage) the sample or the format has a system message and no chat template, both
// have one; (failure) a template that refuses the messages, or one that changes a text with spans.
FormattedText FormatText(const Tokenizer& tokenizer, const TaskSample& sample,
                         const PromptFormat& format);

}  // namespace midscope
