// SPDX-License-Identifier: MIT
// Divides the logits of heads.
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::temperature {
namespace {

void Apply(const Temperature& edit, const TermPlans& plans) {
  const RowRange rows = RowsOf(edit.rows, plans.prompt_tokens);
  ForHeads(edit.heads, plans, [&](AttentionPlan& plan, int64_t layer, int64_t head) {
    AddHeadEntry(plans, layer, HeadTemperature{rows, head, edit.temperature},
                 plan.edits.temperatures);
  });
}

bool IsNeutral(const Temperature& edit) { return edit.temperature == 1; }

}  // namespace

TermType Type() {
  return MakeTerm<Temperature>(
      {.name = "temperature",
       .summary = "Divides the attention logits of heads (soft cap and ALiBi included) before the "
                  "softmax; Ms-PoE's scores are taken without it.",
       .arguments = {HeadsArgument<Temperature>(),
                     RequiredArgument(
                         WithSlider(NumberArgument<&Temperature::temperature>(
                                        "temperature", "Above 1 flattens, below 1 sharpens.",
                                        {0.001, 1000}, {}),
                                    0.25, 4)),
                     RowsArgument<Temperature>("Rows whose logits are divided.", "all")},
       .bare_arguments = 2,
       .correct_example = "temperature(L12H3, 1.5)",
       .examples = {"temperature(L12H3, 1.5)"},
       .small_example = "temperature(L0H0, 1.5)"},
      Apply, {.changes_nothing = IsNeutral});
}

}  // namespace midscope::temperature
