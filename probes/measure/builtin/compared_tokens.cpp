// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/compared_tokens.h"

#include <algorithm>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/run/scoring.h"

namespace midscope {
namespace {

void AddTokens(const Prompt& prompt, const PromptSpan& span, std::set<int32_t>& tokens) {
  for (int64_t i = span.token_begin; i < span.token_end; ++i)
    tokens.insert(prompt.ids[static_cast<size_t>(i)]);
}

// Returns the tokens of pieces other than the gold passage that the gold passage lacks.
std::set<int32_t> TokensOfOtherPieces(const Prompt& prompt) {
  std::set<int32_t> others;
  const PromptSpan* gold = prompt.FindSpan("gold");
  if (!gold) return others;
  for (const PromptSpan& span : prompt.spans) {
    const bool overlaps = span.token_begin < gold->token_end && gold->token_begin < span.token_end;
    if (!overlaps && span.name != "question") AddTokens(prompt, span, others);
  }
  std::set<int32_t> own;
  AddTokens(prompt, *gold, own);
  for (const int32_t token : own) others.erase(token);
  return others;
}

int32_t FirstToken(const Tokenizer& tokenizer, const std::string& text, int32_t token) {
  const std::vector<int32_t> ids = tokenizer.EncodeIds(text);
  if (ids.empty() || ids.front() == token) {
    throw UsageError("option --attribution-against",
                     ids.empty() ? "the text has no token"
                                 : "the text starts with the token that it is compared with",
                     "Give the start of a wrong answer, with its leading space");
  }
  return ids.front();
}

}  // namespace

ComparedTokens FindComparedTokens(const Tokenizer& tokenizer, const Prompt& prompt,
                                  std::span<const float> logits, const std::string& given) {
  const std::vector<TopToken> top = TopTokens(logits, 2);
  ComparedTokens found;
  found.token = prompt.answer_ids.empty() ? top.front().id : prompt.answer_ids.front();
  if (!given.empty()) {
    found.against = FirstToken(tokenizer, given, found.token);
    found.rule = "given";
    return found;
  }
  std::set<int32_t> others = TokensOfOtherPieces(prompt);
  others.erase(found.token);
  if (!others.empty()) {
    found.against = *std::max_element(others.begin(), others.end(), [&](int32_t a, int32_t b) {
      return logits[static_cast<size_t>(a)] < logits[static_cast<size_t>(b)];
    });
    found.rule = "other pieces";
    return found;
  }
  found.against = top.front().id == found.token ? top.back().id : top.front().id;
  found.rule = "vocabulary";
  return found;
}

}  // namespace midscope
