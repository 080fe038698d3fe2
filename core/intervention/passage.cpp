// SPDX-License-Identifier: MIT
#include "core/intervention/passage.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/intervention/term_type.h"

namespace midscope {
namespace {

bool IsPiece(const PromptSpan& span) {
  const size_t space = span.name.rfind(' ');
  return space != std::string::npos && space > 0 && space + 1 < span.name.size() &&
         std::all_of(span.name.begin() + static_cast<std::ptrdiff_t>(space) + 1, span.name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Returns the tokens from the first to the last piece; the whole prompt if it has no pieces.
TokenSpan PiecesOf(const Prompt& prompt) {
  std::optional<TokenSpan> extent;
  for (const PromptSpan& span : prompt.spans) {
    if (!IsPiece(span)) continue;
    if (!extent) extent = TokenSpan{"", span.token_begin, span.token_end};
    extent->begin = std::min(extent->begin, span.token_begin);
    extent->end = std::max(extent->end, span.token_end);
  }
  return extent.value_or(TokenSpan{"", 0, static_cast<int64_t>(prompt.ids.size())});
}

std::string KnownSpans(const Prompt& prompt) {
  if (prompt.spans.empty()) {
    return "Name one with --span NAME=TEXT, or give tokens as span=400:600";
  }
  std::string names;
  for (const PromptSpan& span : prompt.spans) names += (names.empty() ? "" : ", ") + span.name;
  return "It has: " + names;
}

TokenSpan TokensOf(const TokenSpan& span, const Prompt& prompt) {
  const auto tokens = static_cast<int64_t>(prompt.ids.size());
  if (span.name.empty()) {
    if (span.end <= tokens) return span;
    throw UsageError(
        fmt::format("span={}:{}", span.begin, span.end),
        fmt::format("tokens {}:{} are not a passage of the prompt, which has {} tokens", span.begin,
                    span.end, tokens),
        "span= of a term is counted in tokens, --span in bytes");
  }
  const PromptSpan* found = prompt.FindSpan(span.name);
  if (!found) {
    throw UsageError("span=" + span.name, "the prompt has no passage of this name",
                     KnownSpans(prompt));
  }
  return {"", found->token_begin, found->token_end};
}

// Returns the shift of a move whose passage is already resolved to tokens.
int64_t ShiftOf(const Move& move, const Prompt& prompt) {
  if (move.to == MoveTo::kShift) return move.shift;
  const TokenSpan pieces = PiecesOf(prompt);
  return move.to == MoveTo::kBegin ? pieces.begin - move.span.begin : pieces.end - move.span.end;
}

Intervention Resolved(Intervention intervention, const SpanResolver& resolver) {
  for (Term& term : intervention.terms) term = term.type().resolve(term, resolver);
  return intervention;
}

}  // namespace

Intervention ResolvePassages(const Intervention& intervention, const Prompt& prompt) {
  return Resolved(intervention, {[&](const TokenSpan& span) { return TokensOf(span, prompt); },
                                 [&](const Move& move) { return ShiftOf(move, prompt); }});
}

Intervention WithAnyPassages(const Intervention& given) {
  Intervention intervention = given;
  intervention.Change<GivenPositions>([](GivenPositions& positions) { positions = {}; });
  // Each name gets a different token, so that no two passages seem to overlap.
  int64_t token = 0;
  return Resolved(intervention, {[&token](const TokenSpan&) {
                                   ++token;
                                   return TokenSpan{"", token - 1, token};
                                 },
                                 [](const Move&) { return int64_t{0}; }});
}

}  // namespace midscope
