// SPDX-License-Identifier: MIT
// A prompt put together piece by piece, with the byte ranges of its named passages.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/scorers/answer_text.h"
#include "data/tasks/task.h"

namespace midscope {

class PromptText {
 public:
  void Add(std::string_view text) { text_ += text; }

  void AddSpan(const std::string& name, std::string_view text) {
    const auto begin = static_cast<int64_t>(text_.size());
    text_ += text;
    spans_.push_back({name, begin, static_cast<int64_t>(text_.size())});
  }

  // The bytes of the last span under another name as well.
  void NameLastSpan(const std::string& name) {
    ByteSpan span = spans_.back();
    span.name = name;
    spans_.push_back(std::move(span));
  }

  int64_t size() const { return static_cast<int64_t>(text_.size()); }

  // `text` as continuation: with a space before it, unless text_ ends in white space.
  std::string Continuation(const std::string& text) const {
    const bool after_space = !text_.empty() && (text_.back() == ' ' || text_.back() == '\n');
    return (after_space ? "" : " ") + text;
  }

  // `answer` without its white space is also the reference for generated text.
  TaskSample Sample(const std::string& answer, int64_t place, int64_t pieces) && {
    return {std::move(text_), std::move(spans_), answer, place, pieces, {StripText(answer)}};
  }

  // The first of `answers` is teacher-forced, as Continuation has it.
  TaskSample Sample(std::vector<std::string> answers, int64_t place, int64_t pieces) && {
    const std::string answer = Continuation(answers.front());
    return {std::move(text_), std::move(spans_), answer, place, pieces, std::move(answers)};
  }

 private:
  std::string text_;
  std::vector<ByteSpan> spans_;
};

// `items` with the first one (the gold one) moved to 1-based rank `place`; the others keep their
// order.
template <typename T>
std::vector<T> WithFirstAt(std::vector<T> items, int64_t place) {
  for (int64_t i = 1; i < place; ++i) {
    std::swap(items[static_cast<size_t>(i - 1)], items[static_cast<size_t>(i)]);
  }
  return items;
}

// A task's spec as text, without the task.

// The spec with every parameter stated, as Task::name() gives it; reads no file. Throws Error
// (usage) in the same cases as MakeTask.
std::string TaskInFull(std::string_view spec);

// The text of a prompt with {placeholders}, out of a file.

// A piece of a template: text as it is, or a placeholder.
struct TemplatePart {
  std::string text;  // of a placeholder its name
  bool is_placeholder = false;
};

// The file's text cut at `{name}` for each of the names; other braces are text. One line end at the
// file's end, as editors write it, is left out. Throws Error (failure) that names the file: it
// can't be read, is not UTF-8, larger than 1 MiB, or has not each of `required` exactly once.
std::vector<TemplatePart> ReadPromptTemplate(const std::string& path,
                                             const std::vector<std::string>& names,
                                             const std::vector<std::string>& required);

// As above, for a text. `thing`: its name in errors.
std::vector<TemplatePart> PromptTemplate(const std::string& text, const std::string& thing,
                                         const std::vector<std::string>& names,
                                         const std::vector<std::string>& required);

}  // namespace midscope
