// SPDX-License-Identifier: MIT
// Multiplies the attention weights of a passage.
#include "core/base/text.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::boost {
namespace {

Boost Read(const TextTerm& term, const TermForm<Boost>& form) {
  Boost boost = ReadArguments(term, form);
  if (boost.renormalise && boost.factor <= 0) {
    throw ErrorAt(
        Find(term, "factor")->column,
        "with renormalise=yes the factor must be above 0, not " + NumberText(boost.factor),
        "Leave renormalise out");
  }
  return boost;
}

void Apply(const Boost& boost, const TermPlans& plans) {
  CheckSpan(boost.span, boost.layers, plans);
  ForLayersAndHeads(
      boost.layers, boost.heads, plans, [&](AttentionPlan& plan, const LayerHeads& heads) {
        plan.edits.boosted.push_back({RowsOf(boost.rows, plans.prompt_tokens), boost.span.begin,
                                      boost.span.end, boost.factor, boost.renormalise, heads});
      });
}

bool IsNeutral(const Boost& boost) { return boost.factor == 1; }

}  // namespace

TermType Type() {
  return MakeTerm<Boost>(
      {.name = "boost",
       .summary = "Multiplies the attention weights that rows give to the passage's tokens.",
       .source =
           "Yu et al. 2024, arXiv 2406.02536, Fig. 6: 'manually double the attention weights'. "
           "Doubled as said, a row's weights no longer sum to 1; renormalise=yes lets the others "
           "give way. With heads= and renormalise=yes it is PASTA's steering (Zhang et al. 2023, "
           "arXiv 2311.02262, alpha = 0.01: factor=100).",
       .arguments = {SpanArgument<Boost>(),
                     WithSlider(
                         NumberArgument<&Boost::factor>(
                             "factor",
                             "What the weights are multiplied by; above 0 with renormalise=yes.",
                             {-1000, 1000}, 2),
                         0, 4),
                     ChoiceArgument<&Boost::renormalise>(
                         "renormalise",
                         "yes: the row is brought back to a sum of 1 (as if log(factor) were added "
                         "to the logits). no: it is not.",
                         {"no", "yes"}),
                     LayersArgument<Boost>(),
                     RowsArgument<Boost>("Rows whose weights are multiplied.", "answer"),
                     HeadSetArgument<Boost>("Heads whose weights are multiplied.")},
       .correct_example = "boost(span=gold, factor=2)",
       .examples = {"boost(span=\"pair 7\", factor=2) + ablate([L12H3,L14G0], with=mean)"},
       .small_example = "boost(span=gold, factor=2)",
       .read = Read},
      Apply, {.changes_nothing = IsNeutral});
}

}  // namespace midscope::boost
