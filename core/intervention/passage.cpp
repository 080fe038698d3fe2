// SPDX-License-Identifier: MIT
#include "core/intervention/passage.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/base/error.h"
#include "core/intervention/edit_type.h"

namespace midscope {
namespace {

bool IsPiece(const Span& span) {
  const size_t space = span.name.rfind(' ');
  return space != std::string::npos && space > 0 && space + 1 < span.name.size() &&
         std::all_of(span.name.begin() + static_cast<std::ptrdiff_t>(space) + 1, span.name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
};

// Where the pieces begin and end, in tokens.
Extent PiecesOf(const Prompt& prompt) {
  std::optional<Extent> extent;
  for (const Span& span : prompt.spans) {
    if (!IsPiece(span)) continue;
    if (!extent) extent = Extent{span.token_begin, span.token_end};
    extent->begin = std::min(extent->begin, span.token_begin);
    extent->end = std::max(extent->end, span.token_end);
  }
  return extent.value_or(Extent{0, static_cast<int64_t>(prompt.ids.size())});
}

std::string KnownSpans(const Prompt& prompt) {
  if (prompt.spans.empty()) {
    return "Name one with --span NAME=TEXT, or give tokens as span=400:600";
  }
  std::string names;
  for (const Span& span : prompt.spans) names += (names.empty() ? "" : ", ") + span.name;
  return "It has: " + names;
}

Passage TokensOf(const Passage& passage, const Prompt& prompt) {
  const auto tokens = static_cast<int64_t>(prompt.ids.size());
  if (passage.name.empty()) {
    if (passage.end <= tokens) return passage;
    throw UsageError("span=" + std::to_string(passage.begin) + ":" + std::to_string(passage.end),
                     "the prompt has " + std::to_string(tokens) + " tokens",
                     "Name tokens that it has");
  }
  const Span* span = prompt.FindSpan(passage.name);
  if (!span) {
    throw UsageError("span=" + passage.name, "the prompt has no passage of this name",
                     KnownSpans(prompt));
  }
  return {"", span->token_begin, span->token_end};
}

// Of a move whose passage is tokens already.
int64_t ShiftOf(const Move& move, const Prompt& prompt) {
  if (move.to == MoveTo::kShift) return move.shift;
  const Extent pieces = PiecesOf(prompt);
  return move.to == MoveTo::kBegin ? pieces.begin - move.span.begin : pieces.end - move.span.end;
}

Intervention Resolved(Intervention intervention, const PassageTokens& passages) {
  for (const EditType& edit : EditTypes()) edit.resolve(intervention, passages);
  return intervention;
}

}  // namespace

Intervention ResolvePassages(const Intervention& intervention, const Prompt& prompt) {
  return Resolved(intervention, {[&](const Passage& passage) { return TokensOf(passage, prompt); },
                                 [&](const Move& move) { return ShiftOf(move, prompt); }});
}

Intervention WithAnyPassages(const Intervention& intervention) {
  // Each its own token, so that no two seem to overlap.
  int64_t token = 0;
  return Resolved(intervention, {[&token](const Passage&) {
                                   ++token;
                                   return Passage{"", token - 1, token};
                                 },
                                 [](const Move&) { return int64_t{0}; }});
}

}  // namespace midscope
