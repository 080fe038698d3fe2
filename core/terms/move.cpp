// SPDX-License-Identifier: MIT
// Moves the tokens of a passage to other positions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/plan/run_positions.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::move {
namespace {

void ReadTo(Move& move, const TextArgument& argument, const Parameter& described) {
  const TextAtom& atom = OnlyValue(argument);
  if (const auto shift = ReadNumberedChoice(atom, described, "to=shift:-200")) {
    move.to = MoveTo::kShift;
    move.shift = *shift;
    return;
  }
  move.to = static_cast<MoveTo>(Choice(atom, described));
}

std::string ToText(const Move& move, const Parameter& described) {
  if (move.to == MoveTo::kShift) return fmt::format("shift:{}", move.shift);
  return described.choices.at(static_cast<size_t>(move.to));
}

void Resolve(Move& move, const SpanResolver& resolver) {
  move.span = resolver.tokens(move.span);
  move.shift = resolver.shift(move);
  move.to_tokens = move.to_tokens || move.to != MoveTo::kShift;
  move.to = MoveTo::kShift;
}

// Returns the lowest and the highest position of the moved tokens.
std::pair<double, double> MovedBounds(const Move& move, const TermPlans& plans) {
  const PositionIds ids = PositionIdsOf(plans.intervention, plans.prompt_tokens);
  double first = HUGE_VAL;
  double last = -HUGE_VAL;
  for (int64_t token = move.span.begin; token < move.span.end; ++token) {
    const double id = move.to_tokens ? ids.At(token + move.shift)
                                     : ids.At(token) + static_cast<double>(move.shift);
    first = std::min(first, id);
    last = std::max(last, id);
  }
  return {first, last};
}

// Throws Error (usage) if the model has no such positions.
void CheckPositions(const Move& move, const TermPlans& plans) {
  const int64_t positions = LongestRun(plans.intervention, plans.config);
  const auto [first, last] = MovedBounds(move, plans);
  if (first >= 0 && (positions <= 0 || last < static_cast<double>(positions))) return;
  throw UsageError(
      plans.term,
      fmt::format("tokens would be at positions {} to {}", NumberText(first), NumberText(last)),
      fmt::format("The model's positions are 0 to {}", positions - 1));
}

void Apply(const Move& move, const TermPlans& plans) {
  if (plans.config.positions != PositionKind::kRotary) {
    throw UsageError(plans.term,
                     std::string("this model has no rotary positions to change: ") +
                         UnrotatedText(plans.config.positions),
                     "crop, boost, ablate and temperature work on all models");
  }
  CheckSpan(move.span, move.layers, plans);
  if (move.to != MoveTo::kShift) {
    throw UsageError(plans.term, "this run knows no pieces to move to",
                     "Say how far: to=shift:-200");
  }
  CheckPositions(move, plans);
  MovedTokens moved{RowsOf(move.rows, plans.prompt_tokens), move.span.begin, move.span.end,
                    move.shift};
  ForAttentionLayers(move.layers, plans, [&](AttentionPlan& plan, int64_t layer) {
    moved.to_tokens = move.to_tokens && plan.position_ids.given();
    for (const MovedTokens& other : plan.edits.moved) {
      if (moved.begin >= other.end || other.begin >= moved.end) continue;
      throw UsageError(plans.term, fmt::format("layer {} moves a token twice", layer),
                       "Give each token one position a layer");
    }
    plan.edits.moved.push_back(moved);
  });
}

Parameter DescribedTo() {
  Parameter to = Required(ChoiceParameter(
      "to",
      "begin: the passage begins where the first piece of the prompt does (the first pair, line or "
      "document; the first token where there are none). end: it ends where the last piece does "
      "(the last prompt token). shift:N: each token is N positions further on. Under "
      "positions(...) "
      "begin and end take the ids of the tokens that are there, and N is added to the ids.",
      {"begin", "end", "shift:N"}));
  to.default_value = {};
  to.numbered_choice = "shift:N";
  to.minimum = -kEveryLayerAfter;
  to.maximum = kEveryLayerAfter;
  return to;
}

std::vector<BoundArgument<Move>> Arguments() {
  return {SpanArgument<Move>(),
          {DescribedTo(), ReadTo, ToText},
          LayersArgument<Move>(),
          RowsArgument<Move>("Rows that see the changed positions; their own queries are at them "
                             "too where they belong to the passage.",
                             "answer")};
}

bool IsNeutral(const Move& move) {
  return move.to == MoveTo::kShift && move.shift == 0 && !move.to_tokens;
}

}  // namespace

TermType Type() {
  return MakeTerm<Move>(
      {.name = "move",
       .summary =
           "Gives the passage's tokens other positions; their order, and so the causal mask, "
           "stays. Not for models without rotary positions (ALiBi).",
       .source = "Yu et al. 2024, arXiv 2406.02536, App. C (to=begin, to=end, for the last token's "
                 "attention alone: rows=last) and App. D (to=shift:-200 for every row: rows=all).",
       .arguments = Arguments(),
       .correct_example = "move(span=gold, to=begin)",
       .examples = {"move(span=gold, to=begin, rows=last)"},
       .small_example = "move(span=gold, to=begin)"},
      Apply, {.resolve = Resolve, .changes_nothing = IsNeutral});
}

}  // namespace midscope::move
