// SPDX-License-Identifier: MIT
#include "data/tasks/token_cut.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

constexpr size_t kWhiteSpaceWithin = 200;  // bytes; texts without spaces are cut at a character

bool IsInsideCharacter(std::string_view text, size_t offset) {
  return offset < text.size() && !BeginsCharacter(text[offset]);
}

bool IsSpace(char character) { return character == ' ' || character == '\n' || character == '\t'; }

// The last place at or before `offset` where white space begins.
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

// The first place at or after `offset` where white space ends.
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

// Number of bytes to tokenise: a short result does not need a long text.
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
    throw UsageError("task '" + task + "'", "its length is in tokens, and there is no model here",
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

}  // namespace midscope
