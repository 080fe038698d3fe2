// SPDX-License-Identifier: MIT
// Self-Extend (arXiv 2401.01325). The positions of its rule are in plan/near_far_plan.h.
#include <cmath>

#include "core/base/error.h"
#include "core/plan/plan_changes.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::self_extend {
namespace {

constexpr double kLargestTokens = 1 << 24;

// Refuses sliding windows, because keys beyond one would still not be seen and nothing would be
// extended, and moves, because near and far are distinguished by the tokens' positions, which a
// move changes.
void Apply(const SelfExtend& scheme, const TermPlans& plans) {
  if (scheme.group < 1) throw UsageError(plans.term, "group must be at least 1");
  if (scheme.window < 1) {
    throw UsageError(plans.term, "window must be at least 1", "It counts the query's own key");
  }
  if (plans.intervention.Find<Move>()) {
    throw UsageError(plans.term,
                     "it does not go together with move: near and far are decided by "
                     "where tokens are in the text",
                     "Leave one of the two out");
  }
  CheckNoWindow(plans.plans, plans.term, ", so that far keys would stay unseen");
  for (AttentionPlan& plan : plans.plans) {
    if (plan.inverse_frequency.empty()) continue;
    plan.near_far = NearFarRule{scheme.group, scheme.window};
    plan.log_scale_base = scheme.scale_base;
  }
}

// Not printed if it is off.
BoundArgument<SelfExtend> ScaleBaseArgument() {
  BoundArgument<SelfExtend> argument = NumberOrWordArgument<&SelfExtend::scale_base>(
      "scale_base",
      "Tokens of the training: the query at position i is multiplied by ln(i + 1) / ln(scale_base) "
      "where that is above 1. off in the public code by default; its authors used it for long "
      "passkeys.",
      "off", {2, kLargestTokens}, "tokens");
  argument.print = [](const SelfExtend& value, const Parameter&) {
    return value.scale_base == 0 ? std::string() : MemberText<&SelfExtend::scale_base>(value);
  };
  return argument;
}

double Stretch(const SelfExtend&, const ModelConfig&) { return HUGE_VAL; }

}  // namespace

TermType Type() {
  return MakePositionTerm<SelfExtend>(
      {.name = "self-extend",
       .summary =
           "Self-Extend: keys nearer than window stay where they are; for those further away "
           "positions are divided by group and rounded down, so that no distance leaves the "
           "trained range. Not together with move, nor with a sliding window.",
       .source =
           "Jin et al. 2024, arXiv 2401.01325, section 3; needs no tuning. For a model trained on "
           "L tokens the rule holds up to (L - window) group + window tokens; its authors advise "
           "that window + (tokens - window) / group stay below one half to two thirds of L.",
       .arguments =
           {NumberArgument<&SelfExtend::group>(
                "group",
                "Positions of further keys are divided by it and rounded down; 1 changes nothing.",
                {1, kLargestTokens}, 2),
            NumberArgument<&SelfExtend::window>("window",
                                                "Keys at their own distance, the query's own "
                                                "included.",
                                                {1, kLargestTokens}, 64, "tokens"),
            ScaleBaseArgument()},
       .examples = {"self-extend(group=2, window=64)"}},
      Apply, Stretch, {.kind = SchemeKind::kDividesPositions});
}

}  // namespace midscope::self_extend
