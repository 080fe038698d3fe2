// SPDX-License-Identifier: MIT
#include "probes/prompt/prompt_record.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/base/record_names.h"
#include "core/base/utf8.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

// Returns the byte offset of each token in the prompt's text; 0 for an added BOS.
std::vector<int64_t> TokenBegins(const Prompt& prompt, const Tokenizer& tokenizer) {
  const std::vector<Token> tokens = tokenizer.Encode(prompt.text);
  std::vector<int64_t> begins(prompt.ids.size() - tokens.size(), 0);
  for (const Token& token : tokens) begins.push_back(token.byte_begin);
  return begins;
}

void AddAnswerTokens(const Prompt& prompt, const Tokenizer& tokenizer, Record& record) {
  std::vector<std::string> texts;
  for (const int32_t id : prompt.answer_ids) texts.push_back(DisplayText(tokenizer.TokenText(id)));
  record.axes.push_back(CountedAxis("answer_token", static_cast<int64_t>(texts.size())));
  record.arrays.push_back({kAnswerTokenText,
                           {"answer_token"},
                           texts,
                           "",
                           "text of each token of the answer, control characters shown"});
}

}  // namespace

Record PromptRecord(const Prompt& prompt, const Tokenizer& tokenizer, int64_t place) {
  std::vector<std::string> texts;
  for (const int32_t id : prompt.ids) texts.push_back(DisplayText(tokenizer.TokenText(id)));
  std::vector<std::string> names;
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
  int64_t gold = -1;
  for (const PromptSpan& span : prompt.spans) {
    if (span.name == "gold") gold = static_cast<int64_t>(names.size());
    names.push_back(span.name);
    begins.push_back(span.token_begin);
    ends.push_back(span.token_end);
  }
  Record record;
  record.name = kPromptRecord;
  record.axes = {CountedAxis("token", static_cast<int64_t>(prompt.ids.size())),
                 CountedAxis("span", static_cast<int64_t>(names.size()))};
  record.arrays = {
      {kTokenIds,
       {"token"},
       std::vector<int64_t>(prompt.ids.begin(), prompt.ids.end()),
       "",
       "the prompt's tokens"},
      {"token_text", {"token"}, texts, "", "text of each token, control characters shown"},
      {"token_begin",
       {"token"},
       TokenBegins(prompt, tokenizer),
       "bytes",
       "where each token begins in the text"},
      {kSpanName, {"span"}, names, "", "named passages"},
      {"span_token_begin", {"span"}, begins, "tokens", "first token of the passage"},
      {"span_token_end", {"span"}, ends, "tokens", "one past the last token of the passage"}};
  record.attributes = {{"text", prompt.text},
                       {"answer", prompt.answer},
                       {"place", place},
                       {"gold", gold},
                       {"prompt_tokens", static_cast<int64_t>(prompt.ids.size())},
                       {"bytes_without_token", prompt.bytes_without_token}};
  if (!prompt.answer_ids.empty()) AddAnswerTokens(prompt, tokenizer, record);
  return record;
}

void LogBytesWithoutToken(const Prompt& prompt, const JobContext& context) {
  if (prompt.bytes_without_token == 0) return;
  context.Warn(fmt::format(
      "prompt: {} of its bytes have no token in this model's vocabulary and are left out",
      prompt.bytes_without_token));
}

Record AnswerRecord(const Prompt& prompt, const AnswerScore& score) {
  Record record;
  record.name = kAnswerRecord;
  record.axes = {CountedAxis("answer_token", static_cast<int64_t>(prompt.answer_ids.size()))};
  record.arrays = {{"answer_ids",
                    {"answer_token"},
                    std::vector<int64_t>(prompt.answer_ids.begin(), prompt.answer_ids.end()),
                    "",
                    "the answer's tokens"},
                   {"answer_token_nll",
                    {"answer_token"},
                    score.token_nll,
                    "nats",
                    "negative log-likelihood of each answer token after the tokens before it"}};
  record.attributes = {{"answer", prompt.answer},
                       {kAnswerNll, score.nll},
                       {"correct", static_cast<int64_t>(score.correct)}};
  record.signal = "answer_token_nll";
  return record;
}

}  // namespace midscope
