// SPDX-License-Identifier: MIT
#include "core/tokenizer/prompt.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {

const PromptSpan* Prompt::FindSpan(const std::string& name) const {
  const auto found = std::find_if(spans.begin(), spans.end(),
                                  [&](const PromptSpan& span) { return span.name == name; });
  return found == spans.end() ? nullptr : &*found;
}

namespace {

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t number = 0;
  if (!ReadWhole(text, number) || text.front() == '-') return std::nullopt;
  return number;
}

std::string SpanName(const std::string& name) { return "span " + Quote(name); }

void CheckBytes(const std::string& text, const ByteSpan& span) {
  const auto size = static_cast<int64_t>(text.size());
  if (span.begin >= 0 && span.begin < span.end && span.end <= size) return;
  throw UsageError(SpanName(span.name),
                   fmt::format("bytes {}:{} are not a passage of the prompt, which has {} bytes",
                               span.begin, span.end, size),
                   "Passages of the prompt are counted in bytes, span= of a term in tokens");
}

// Sets the tokens of `span` to those that overlap its bytes; `shift` tokens precede those of the
// text.
void PlaceTokens(const std::vector<Token>& tokens, int64_t shift, PromptSpan* span) {
  const auto begin = std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) {
    return token.byte_end > span->byte_begin;
  });
  const auto end = std::find_if(
      begin, tokens.end(), [&](const Token& token) { return token.byte_begin >= span->byte_end; });
  if (begin == end)
    throw Failure(SpanName(span->name), "no token of the prompt overlaps it",
                  "Give a longer passage");
  span->token_begin = shift + (begin - tokens.begin());
  span->token_end = shift + (end - tokens.begin());
}

std::vector<int32_t> AnswerIds(const Tokenizer& tokenizer, const std::string& text,
                               const std::vector<Token>& tokens, const std::string& answer) {
  std::vector<int32_t> whole = tokenizer.EncodeIds(text + answer);
  const bool is_prefix = whole.size() >= tokens.size() &&
                         std::equal(tokens.begin(), tokens.end(), whole.begin(),
                                    [](const Token& token, int32_t id) { return token.id == id; });
  std::vector<int32_t> ids;
  if (is_prefix) {
    ids.assign(whole.begin() + static_cast<std::ptrdiff_t>(tokens.size()), whole.end());
  } else {
    ids = tokenizer.EncodeIds(answer);
  }
  if (ids.empty())
    throw UsageError("answer " + Quote(answer), "has no tokens in this model's vocabulary",
                     "Give an answer in characters that the model has");
  return ids;
}

}  // namespace

SpanRequest ParseSpan(std::string_view argument) {
  const size_t equals = argument.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == argument.size()) {
    throw UsageError("span " + Quote(argument),
                     "not of the form NAME=TEXT or NAME=START:END (bytes)",
                     "Write for example gold=the key is 42, or gold=120:156");
  }
  SpanRequest request;
  request.span.name = argument.substr(0, equals);
  CheckUtf8("span " + Quote(argument), argument);
  const std::string_view value = argument.substr(equals + 1);
  const size_t colon = value.find(':');
  if (colon != std::string_view::npos) {
    const auto begin = ParseNumber(value.substr(0, colon));
    const auto end = ParseNumber(value.substr(colon + 1));
    if (begin && end) {
      request.span.begin = *begin;
      request.span.end = *end;
      return request;
    }
  }
  request.text = value;
  return request;
}

ByteSpan FindSpanBytes(const std::string& text, const SpanRequest& request) {
  const std::string& name = request.span.name;
  if (request.text.empty()) {
    CheckBytes(text, request.span);
    return request.span;
  }
  const size_t first = text.find(request.text);
  if (first == std::string::npos) {
    throw UsageError(
        SpanName(name), "its text " + Quote(request.text) + " does not occur in the prompt",
        "Copy it from the prompt with its case, spaces and line ends, or give its bytes as " +
            name + "=START:END (END is not in it)");
  }
  if (text.find(request.text, first + 1) != std::string::npos) {
    throw UsageError(SpanName(name),
                     "its text " + Quote(request.text) + " occurs more than once in the prompt",
                     "Give more of it, or its bytes as " + name + "=START:END (END is not in it)");
  }
  return {name, static_cast<int64_t>(first), static_cast<int64_t>(first + request.text.size())};
}

Prompt BuildPrompt(const Tokenizer& tokenizer, const std::string& text,
                   const std::vector<ByteSpan>& spans, const std::string& answer, bool bos) {
  CheckUtf8("prompt", text);
  CheckUtf8("answer", answer);
  Prompt prompt;
  prompt.text = text;
  prompt.answer = answer;
  if (bos) {
    prompt.ids = tokenizer.begin_ids();
    if (prompt.ids.empty())
      throw UsageError("--bos", "this model has no BOS token", "Leave --bos out");
    tokenizer.CheckRows(prompt.ids);
  }
  const auto shift = static_cast<int64_t>(prompt.ids.size());
  const std::vector<Token> tokens = tokenizer.Encode(text);
  for (const Token& token : tokens) prompt.ids.push_back(token.id);
  if (prompt.ids.empty()) throw UsageError("prompt", "it has no tokens", "Give some text");
  prompt.bytes_without_token = tokenizer.BytesWithoutToken(text, tokens);
  for (const int32_t id : prompt.ids) prompt.tokens.push_back(DisplayText(tokenizer.TokenText(id)));
  for (const ByteSpan& bytes : spans) {
    if (prompt.FindSpan(bytes.name) != nullptr)
      throw UsageError(SpanName(bytes.name), "is named twice", "Give each span another name");
    CheckBytes(text, bytes);
    PromptSpan span{bytes.name, bytes.begin, bytes.end};
    PlaceTokens(tokens, shift, &span);
    prompt.spans.push_back(std::move(span));
  }
  if (!answer.empty()) prompt.answer_ids = AnswerIds(tokenizer, text, tokens, answer);
  return prompt;
}

std::string ReadPromptFile(const std::filesystem::path& path) {
  constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // an endless pipe is not read for ever
  std::string text = ReadWholeFile(path.string(), kMostBytes, "256 MiB");
  CheckUtf8(path.string(), text);
  return text;
}

}  // namespace midscope
