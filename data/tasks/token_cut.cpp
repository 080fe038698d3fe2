// SPDX-License-Identifier: MIT
#include "data/tasks/token_cut.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/utf8.h"

namespace midscope {

namespace {

constexpr size_t kWhiteSpaceWithin = 200;  // bytes; without white space, cuts at a character

bool IsInsideCharacter(std::string_view text, size_t offset) {
  return offset < text.size() && !BeginsCharacter(text[offset]);
}

bool IsSpace(char character) { return character == ' ' || character == '\n' || character == '\t'; }

// Returns the last byte offset <= `offset` at which white space begins, for the end of a cut text.
size_t EndBefore(std::string_view text, size_t offset) {
  if (offset >= text.size()) return text.size();
  const size_t floor = offset > kWhiteSpaceWithin ? offset - kWhiteSpaceWithin : 0;
  for (size_t at = offset; at > floor; --at) {
    if (IsSpace(text[at]) && !IsSpace(text[at - 1])) return at;
  }
  if (floor == 0) return 0;
  while (IsInsideCharacter(text, offset)) --offset;
  return offset;
}

// Returns the first byte offset >= `offset` at which white space ends, for the begin of a cut text.
size_t BeginAfter(std::string_view text, size_t offset) {
  if (offset == 0) return 0;
  const size_t ceiling = std::min(text.size(), offset + kWhiteSpaceWithin);
  for (size_t at = offset; at < ceiling; ++at) {
    if (IsSpace(text[at - 1]) && !IsSpace(text[at])) return at;
  }
  if (ceiling == text.size()) return text.size();
  while (IsInsideCharacter(text, offset)) ++offset;
  return offset;
}

// Returns how many bytes of a long text must be tokenised to find its first (last) `tokens` tokens.
size_t Window(std::string_view text, int64_t tokens, const TokenCounter& count, bool from_end) {
  constexpr size_t kBytesPerToken = 8;
  size_t window = std::max<size_t>(kBytesPerToken * static_cast<size_t>(tokens), 256);
  while (window < text.size()) {
    const std::string_view part =
        from_end ? text.substr(text.size() - window) : text.substr(0, window);
    size_t begin = 0;
    size_t end = part.size();
    while (IsInsideCharacter(part, begin)) ++begin;
    if (!from_end) {
      size_t whole = window;
      while (IsInsideCharacter(text, whole)) --whole;
      end = whole;
    }
    if (count(part.substr(begin, end - begin)) > tokens) return window;
    window *= 2;
  }
  return text.size();
}

}  // namespace

const TokenCounter& NeedCounter(const TokenCounter& count, const std::string& task) {
  if (!count) {
    throw UsageError("task '" + task + "'", "its length is in tokens, which requires a model",
                     "Name the model that it is for");
  }
  return count;
}

std::string_view FirstTokens(std::string_view text, int64_t tokens, const TokenCounter& count) {
  if (tokens <= 0) return text.substr(0, 0);
  const size_t window = Window(text, tokens, count, false);
  const int64_t best = LargestFitting(static_cast<int64_t>(window), [&](int64_t bytes) {
    return count(text.substr(0, EndBefore(text, static_cast<size_t>(bytes)))) <= tokens;
  });
  return text.substr(0, EndBefore(text, static_cast<size_t>(best)));
}

std::string_view LastTokens(std::string_view text, int64_t tokens, const TokenCounter& count) {
  if (tokens <= 0) return text.substr(text.size());
  const size_t window = Window(text, tokens, count, true);
  const int64_t best = LargestFitting(static_cast<int64_t>(window), [&](int64_t bytes) {
    const size_t begin = BeginAfter(text, text.size() - static_cast<size_t>(bytes));
    return count(text.substr(begin)) <= tokens;
  });
  return text.substr(BeginAfter(text, text.size() - static_cast<size_t>(best)));
}

namespace {

class MiddleCutTask : public Task {
 public:
  MiddleCutTask(std::unique_ptr<Task> task, int64_t tokens, const TaskInputs& inputs)
      : task_(std::move(task)),
        tokens_(tokens),
        count_(NeedCounter(inputs.count_tokens, task_->name())),
        ends_(NeedEnds(inputs.token_ends, task_->name())) {}

  std::string name() const override { return task_->name(); }
  int64_t pieces() const override { return task_->pieces(); }
  int64_t first_place() const override { return task_->first_place(); }
  bool by_depth() const override { return task_->by_depth(); }
  std::optional<int64_t> samples() const override { return task_->samples(); }
  std::vector<std::string> notes() const override { return task_->notes(); }
  bool scored_by_likelihood() const override { return task_->scored_by_likelihood(); }
  TaskSample Make(int64_t sample, int64_t place) const override {
    TaskSample made = task_->Make(sample, place);
    CutMiddle(made, tokens_, count_, ends_);
    return made;
  }

 private:
  std::unique_ptr<Task> task_;
  int64_t tokens_;
  TokenCounter count_;
  TokenEnds ends_;
};

}  // namespace

const TokenEnds& NeedEnds(const TokenEnds& ends, const std::string& task) {
  if (!ends) {
    throw UsageError("task '" + task + "'", "it is cut by tokens, which requires a model",
                     "Name the model that it is for");
  }
  return ends;
}

void CutMiddle(TaskSample& sample, int64_t tokens, const TokenCounter& count,
               const TokenEnds& ends) {
  sample.cut = count(sample.text) > tokens;
  if (!*sample.cut) return;
  const int64_t half = tokens / 2;
  const TextEnds kept = ends(sample.text, half, half);
  const std::string& front = kept.first;
  const std::string& back = kept.last;
  const auto kept_front = static_cast<int64_t>(front.size());
  const auto kept_back = static_cast<int64_t>(back.size());
  const auto size = static_cast<int64_t>(sample.text.size());
  // Converts an offset in the original text to the cut text, in which the bytes of a character that
  // the cut splits are replaced.
  const auto moved = [&](int64_t offset) {
    int64_t before = offset;  // bytes before the offset that are not special tokens
    int64_t after = size - offset;
    for (const auto& [begin, end] : kept.special) {
      before -= std::clamp<int64_t>(offset - begin, 0, end - begin);
      after -= std::clamp<int64_t>(end - offset, 0, end - begin);
    }
    return before <= kept_front ? before : std::max(kept_front, kept_front + kept_back - after);
  };
  for (ByteSpan& span : sample.spans) {
    span.begin = moved(span.begin);
    span.end = moved(span.end);
  }
  std::erase_if(sample.spans, [&](const ByteSpan& span) {
    const bool is_gone = span.begin == span.end;
    sample.gold_cut = sample.gold_cut || (is_gone && span.name == "gold");
    return is_gone;
  });
  sample.text = front + back;
}

std::unique_ptr<Task> WithMiddleCut(std::unique_ptr<Task> task, int64_t tokens,
                                    const TaskInputs& inputs) {
  return std::make_unique<MiddleCutTask>(std::move(task), tokens, inputs);
}

Parameter MiddleCutParameter(bool always_stated) {
  constexpr int64_t kMostTokens = 1 << 20;
  Parameter tokens = WholeNumberParameter(
      "tokens",
      "longer prompts lose their middle (LongBench's code: 3500 for models of 4096); 0: they stay "
      "whole",
      0, kMostTokens, 0);
  tokens.always_stated = always_stated;
  return tokens;
}

}  // namespace midscope
