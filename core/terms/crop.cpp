// SPDX-License-Identifier: MIT
// Crops the causal mask of a passage.
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::crop {
namespace {

void Apply(const Crop& crop, const TermPlans& plans) {
  CheckSpan(crop.span, crop.layers, plans);
  const int64_t first_hidden = crop.keep == CropKeep::kFirst ? 1 : 0;
  if (first_hidden >= crop.span.begin) return;
  ForAttentionLayers(crop.layers, plans, [&](AttentionPlan& plan, int64_t) {
    plan.edits.hidden.push_back({{crop.span.begin, crop.span.end}, first_hidden, crop.span.begin});
  });
}

}  // namespace

TermType Type() {
  return MakeTerm<Crop>(
      {.name = "crop",
       .summary =
           "Crops the causal mask: the passage's tokens see one another and nothing before them; "
           "others see them as before.",
       .source =
           "Yu et al. 2024, arXiv 2406.02536, App. C (layers 1-8 counted from 1: layers=0-7) and, "
           "with keep=none, App. D.",
       .arguments = {SpanArgument<Crop>(), LayersArgument<Crop>(),
                     ChoiceArgument<&Crop::keep>(
                         "keep",
                         "What they still see before themselves. first: the prompt's first token, "
                         "which keeps attention stable. none: nothing.",
                         {"first", "none"})},
       .correct_example = "crop(span=gold, layers=0-7)",
       .examples = {"crop(span=gold, layers=0-7)"},
       .small_example = "crop(span=gold)"},
      Apply);
}

}  // namespace midscope::crop
