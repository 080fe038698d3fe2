// SPDX-License-Identifier: MIT
#include "core/intervention/passage.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/base/error.h"

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

void Resolve(Passage& passage, const Prompt& prompt) {
  const auto tokens = static_cast<int64_t>(prompt.ids.size());
  if (passage.name.empty()) {
    if (passage.end <= tokens) return;
    throw UsageError("span=" + std::to_string(passage.begin) + ":" + std::to_string(passage.end),
                     "the prompt has " + std::to_string(tokens) + " tokens",
                     "Name tokens that it has");
  }
  const Span* span = prompt.FindSpan(passage.name);
  if (!span) {
    throw UsageError("span=" + passage.name, "the prompt has no passage of this name",
                     KnownSpans(prompt));
  }
  passage = {"", span->token_begin, span->token_end};
}

}  // namespace

Intervention ResolvePassages(const Intervention& intervention, const Prompt& prompt) {
  Intervention resolved = intervention;
  for (Crop& crop : resolved.crops) Resolve(crop.span, prompt);
  for (Boost& boost : resolved.boosts) Resolve(boost.span, prompt);
  for (Move& move : resolved.moves) {
    Resolve(move.span, prompt);
    if (move.to == MoveTo::kShift) continue;
    const Extent pieces = PiecesOf(prompt);
    move.shift =
        move.to == MoveTo::kBegin ? pieces.begin - move.span.begin : pieces.end - move.span.end;
    move.to = MoveTo::kShift;
  }
  return resolved;
}

Intervention WithAnyPassages(const Intervention& intervention) {
  Intervention any = intervention;
  // Each its own token, so that no two seem to overlap.
  int64_t token = 0;
  const auto place = [&token](Passage& passage) {
    passage = {"", token, token + 1};
    ++token;
  };
  for (Crop& crop : any.crops) place(crop.span);
  for (Boost& boost : any.boosts) place(boost.span);
  for (Move& move : any.moves) {
    place(move.span);
    move.to = MoveTo::kShift;
    move.shift = 0;
  }
  return any;
}

}  // namespace midscope
