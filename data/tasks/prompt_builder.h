// SPDX-License-Identifier: MIT
// Builds a prompt from texts and records byte spans of named passages. Reads prompt templates.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/scorers/answer_text.h"
#include "data/tasks/task.h"

namespace midscope {

class PromptBuilder {
 public:
  void Add(std::string_view text) { text_ += text; }

  void AddSpan(const std::string& name, std::string_view text) {
    const auto begin = static_cast<int64_t>(text_.size());
    text_ += text;
    spans_.push_back({name, begin, static_cast<int64_t>(text_.size())});
  }

  // Adds a span with the same bytes as the last added span, under another name.
  void NameLastSpan(const std::string& name) {
    ByteSpan span = spans_.back();
    span.name = name;
    spans_.push_back(std::move(span));
  }

  int64_t size() const { return static_cast<int64_t>(text_.size()); }

  // Returns `text` as a continuation of the prompt: with a leading space unless the prompt ends in
  // white space.
  std::string Continuation(const std::string& text) const {
    const bool after_space = !text_.empty() && (text_.back() == ' ' || text_.back() == '\n');
    return (after_space ? "" : " ") + text;
  }

  // Returns the sample. Generated text is scored against `answer` without white space at both ends.
  TaskSample Sample(const std::string& answer, int64_t place, int64_t pieces) && {
    return {std::move(text_), std::move(spans_), answer, place, pieces, {StripText(answer)}};
  }

  // Returns the sample. Continuation() of the first of `answers` is the text to teacher-force.
  TaskSample Sample(std::vector<std::string> answers, int64_t place, int64_t pieces) && {
    const std::string answer = Continuation(answers.front());
    return {std::move(text_), std::move(spans_), answer, place, pieces, std::move(answers)};
  }

 private:
  std::string text_;
  std::vector<ByteSpan> spans_;
};

// Returns the items with the first (gold) at 1-based rank `place`; the others keep their order.
template <typename T>
std::vector<T> WithFirstAt(std::vector<T> items, int64_t place) {
  for (int64_t i = 1; i < place; ++i) {
    std::swap(items[static_cast<size_t>(i - 1)], items[static_cast<size_t>(i)]);
  }
  return items;
}

// Returns a task spec with every parameter stated, as Task::name() does, but without reading files.
// Throws Error (usage) in the same cases as MakeTask.
std::string TaskInFull(std::string_view spec);

// A part of a prompt template: literal text or a {placeholder}.
struct TemplatePart {
  std::string text;  // literal text, or name of the placeholder
  bool is_placeholder = false;
};

// Reads a prompt template and splits it at the placeholders `{name}` for each of `names`; other
// braces are literal text. Drops one line end at the end of the file, which editors add. Throws
// Error (failure), which names the file, if it can't be read, is not UTF-8 or exceeds 1 MiB, or if
// it does not contain each of `required` exactly once.
std::vector<TemplatePart> ReadPromptTemplate(const std::string& path,
                                             const std::vector<std::string>& names,
                                             const std::vector<std::string>& required);

// Splits a template's text as ReadPromptTemplate does. `thing`: name of the text in errors.
std::vector<TemplatePart> PromptTemplate(const std::string& text, const std::string& thing,
                                         const std::vector<std::string>& names,
                                         const std::vector<std::string>& required);

}  // namespace midscope
