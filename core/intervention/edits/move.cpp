// SPDX-License-Identifier: MIT
// Other positions for the tokens of a passage.
#include <string>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/intervention/edits/edits.h"
#include "core/plan/context_limit.h"
#include "core/plan/edit_plans.h"

namespace midscope {
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
  move.to = MoveTo::kShift;
}

// Throws Error (usage): the model has no such positions.
void CheckPositions(const Move& move, const EditPlans& plans) {
  const int64_t positions = LongestRun(plans.intervention, plans.config);
  const int64_t first = move.span.begin + move.shift;
  const int64_t last = move.span.end - 1 + move.shift;
  if (first >= 0 && (positions <= 0 || last < positions)) return;
  throw UsageError(plans.term, fmt::format("tokens would be at positions {} to {}", first, last),
                   fmt::format("The model's positions are 0 to {}", positions - 1));
}

void Apply(const Move& move, const EditPlans& plans) {
  if (plans.config.positions != PositionKind::kRotary) {
    throw UsageError(plans.term,
                     "this model has no rotary positions to change: it attends with ALiBi",
                     "crop, boost, ablate and temperature work on all models");
  }
  CheckSpan(move.span, move.layers, plans);
  if (move.to != MoveTo::kShift) {
    throw UsageError(plans.term, "this run knows no pieces to move to",
                     "Say how far: to=shift:-200");
  }
  CheckPositions(move, plans);
  const MovedTokens moved{RowsOf(move.rows, plans.prompt_tokens), move.span.begin, move.span.end,
                          move.shift};
  ForLayers(move.layers, plans, [&](AttentionPlan& plan, int64_t layer) {
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
      "(the last prompt token). shift:N: each token is N positions further on.",
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

}  // namespace

EditType MoveEdit() {
  return MakeEdit<Move>(
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
      Apply, {.list = &Intervention::moves, .resolve = Resolve});
}

}  // namespace midscope
