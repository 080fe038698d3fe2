// SPDX-License-Identifier: MIT
// What the tests of tasks have in common.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "data/scorers/answer_text.h"
#include "data/tasks/task.h"
#include "tests/core/support/error_message.h"

namespace midscope {

// The bytes of a span of that name.
inline std::string Passage(const TaskSample& sample, const std::string& name) {
  for (const ByteSpan& span : sample.spans) {
    if (span.name == name) {
      return sample.text.substr(static_cast<size_t>(span.begin),
                                static_cast<size_t>(span.end - span.begin));
    }
  }
  return "no span " + name;
}

// What a call that is used wrongly, or finds a file wrong, says; "" where it throws nothing.
inline std::string ErrorOf(const std::function<void()>& work, ErrorKind kind = ErrorKind::kUsage) {
  return test::ErrorMessage(kind, work);
}

// A tokenizer for tests: a token is a word.
inline int64_t CountWords(std::string_view text) {
  return static_cast<int64_t>(SplitWords(text).size());
}

}  // namespace midscope
