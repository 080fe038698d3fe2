// SPDX-License-Identifier: MIT
// Replaces the outputs of heads.
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::ablate {
namespace {

void Apply(const Ablation& ablation, const TermPlans& plans) {
  const RowRange rows = RowsOf(ablation.rows, plans.prompt_tokens);
  ForHeads(ablation.heads, plans, [&](AttentionPlan& plan, int64_t layer, int64_t head) {
    AddHeadEntry(plans, layer, AblatedHead{rows, head, ablation.with}, plan.edits.ablated);
  });
}

}  // namespace

TermType Type() {
  return MakeTerm<Ablation>(
      {.name = "ablate",
       .summary = "Replaces what heads put out (hook_z, before the output projection).",
       .arguments = {HeadsArgument<Ablation>(),
                     ChoiceArgument<&Ablation::with>(
                         "with",
                         "zero: nothing. mean: in row i the mean of the head's own outputs in rows "
                         "0 to i of the same run.",
                         {"zero", "mean"}),
                     RowsArgument<Ablation>("Rows whose outputs are replaced.", "all")},
       .bare_arguments = 1,
       .correct_example = "ablate(L12H3, with=zero)",
       .examples = {"boost(span=\"pair 7\", factor=2) + ablate([L12H3,L14G0], with=mean)"},
       .small_example = "ablate(L0H0, with=zero)"},
      Apply);
}

}  // namespace midscope::ablate
