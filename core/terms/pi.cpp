// SPDX-License-Identifier: MIT
// Position interpolation.
#include "core/intervention/head_ratio_file.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::pi {
namespace {

void Apply(const PositionInterpolation& scheme, const TermPlans& plans) {
  DividePositions(plans, scheme.ratio);
}

double Stretch(const PositionInterpolation& scheme, const ModelConfig&) { return scheme.ratio; }

bool IsNeutral(const PositionInterpolation& scheme) { return scheme.ratio == 1; }

}  // namespace

TermType Type() {
  return MakePositionTerm<PositionInterpolation>(
      {.name = "pi",
       .summary = "Position interpolation: every position is divided by one ratio.",
       .source = "Chen et al. 2023, arXiv 2306.15595; composes with the model's own frequencies.",
       .arguments = {WithSlider(NumberArgument<&PositionInterpolation::ratio>(
                                    "ratio", "Every position is divided by it; below 1 stretches.",
                                    {kSmallestRatio, kLargestRatio}, 1.5),
                                0.5, 3)},
       .bare_arguments = 1,
       .examples = {"pi(1.5)"}},
      Apply, Stretch, {.kind = SchemeKind::kDividesPositions, .changes_nothing = IsNeutral});
}

}  // namespace midscope::pi
