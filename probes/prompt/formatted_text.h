// SPDX-License-Identifier: MIT
// Formats a text for a model (prompt_format.h) and keeps track of the text's passages and answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tokenizer/prompt.h"
#include "data/tasks/task.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

// A formatted text and its relation to the sample's text.
struct FormattedText {
  std::string text;
  bool add_bos = false;    // whether BOS must be added before `text`
  bool templated = false;  // whether `text` is the output of a chat template
  // Byte b of the sample's text is byte b + shift of `text`. The template kept bytes [begin, end)
  // of the sample's text (templates may trim white space). Undetermined for a template if the
  // sample has no spans.
  int64_t shift = 0;
  int64_t begin = 0;
  int64_t end = 0;

  // Converts spans of the sample's text to spans of `text`.
  std::vector<ByteSpan> Shifted(const std::vector<ByteSpan>& spans) const;
  // Returns the answer in the form in which it follows `text`: without leading space after a
  // template that ends in white space, with one leading space after other templates, unchanged
  // after plain text.
  std::string AnswerAfter(const std::string& answer) const;
};

// Formats a sample. Throws Error: (usage) if there is a system message without chat template, or
// both sample and format have one; (failure) if the template rejects the messages or changes a text
// that has spans.
FormattedText FormatText(const Tokenizer& tokenizer, const TaskSample& sample,
                         const PromptFormat& format);

}  // namespace midscope
