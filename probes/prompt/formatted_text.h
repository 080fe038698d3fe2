// SPDX-License-Identifier: MIT
// A text inside its format (prompt_format.h): where its passages lie then, and what follows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tokenizer/prompt_builder.h"
#include "data/tasks/task.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

// What is put to the model.
struct FormattedText {
  std::string text;
  bool add_bos = false;    // BOS is still to be put before `text`
  bool templated = false;  // `text` is what a chat template wrote
  // Where the sample's own text lies: its byte b at b + shift, of which the template kept bytes
  // [begin, end) (templates may trim). Not looked for in a template where the sample has no spans.
  int64_t shift = 0;
  int64_t begin = 0;
  int64_t end = 0;

  // The spans where they lie in `text`.
  std::vector<SpanRequest> Shifted(const std::vector<TextSpan>& spans) const;
  // After a template that ends in white space the answer has no leading space, else it has one;
  // after plain text it is as given.
  std::string AnswerAfter(const std::string& answer) const;
};

// Throws Error: (usage) the sample or the format has a system message and no chat template, both
// have one; (failure) a template that refuses the messages, or one that does not leave a text with
// spans whole.
FormattedText FormatText(const Tokenizer& tokenizer, const TaskSample& sample,
                         const PromptFormat& format);

}  // namespace midscope
