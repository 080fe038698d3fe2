// SPDX-License-Identifier: MIT
// Helpers shared by the tests of tasks.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/scorers/answer_text.h"
#include "data/tasks/task.h"
#include "tests/core/support/error_message.h"

namespace midscope {

// Landmark's text.
inline constexpr const char* kPasskeyInstruction =
    "There is an important info hidden inside a lot of irrelevant text. Find it and memorize them. "
    "I will quiz you about the important information there.\n";
inline constexpr const char* kPasskeyBlock =
    "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.";

// The text of the span with that name.
inline std::string Passage(const TaskSample& sample, const std::string& name) {
  for (const ByteSpan& span : sample.spans) {
    if (span.name == name) {
      return sample.text.substr(static_cast<size_t>(span.begin),
                                static_cast<size_t>(span.end - span.begin));
    }
  }
  return "no span " + name;
}

// The message of the Error that the call throws for wrong use or a faulty file; "" if it throws
// nothing.
inline std::string ErrorOf(const std::function<void()>& work, ErrorKind kind = ErrorKind::kUsage) {
  return test::ErrorMessage(kind, work);
}

// A tokenizer for tests, whose tokens are words.
inline int64_t CountWords(std::string_view text) {
  return static_cast<int64_t>(SplitWords(text).size());
}

// The first and last words of a text, where a token is a word with the white space before it. The
// first word of each end has no such white space, as with a tokenizer that adds a space before
// text.
inline TextEnds WordEnds(std::string_view text, int64_t first, int64_t last) {
  const std::vector<std::string> words = SplitWords(text);
  const auto join = [&](size_t begin, size_t end) {
    if (begin == end) return std::string();
    size_t at = 0;
    size_t from = 0;
    for (size_t i = 0; i < end; ++i) {
      at = text.find(words[i], at);
      if (i == begin) from = at;
      at += words[i].size();
    }
    return std::string(text.substr(from, at - from));
  };
  return {join(0, static_cast<size_t>(first)),
          join(words.size() - static_cast<size_t>(last), words.size())};
}

}  // namespace midscope
