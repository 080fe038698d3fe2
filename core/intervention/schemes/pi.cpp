// SPDX-License-Identifier: MIT
// Position interpolation.
#include "core/intervention/head_ratio_file.h"
#include "core/intervention/schemes/schemes.h"
#include "core/plan/scheme_plans.h"

namespace midscope {
namespace {

void Apply(const PositionInterpolation& scheme, const SchemePlans& plans) {
  DividePositions(plans, scheme.ratio);
}

double Stretch(const PositionInterpolation& scheme, const ModelConfig&) { return scheme.ratio; }

}  // namespace

SchemeType PiScheme() {
  return MakeScheme<PositionInterpolation>(
      {.name = "pi",
       .summary = "Position interpolation: every position is divided by one ratio.",
       .source = "Chen et al. 2023, arXiv 2306.15595; composes with the model's own frequencies.",
       .arguments = {NumberArgument<&PositionInterpolation::ratio>(
           "ratio", "Every position is divided by it; below 1 stretches.",
           {kSmallestRatio, kLargestRatio}, 1.5)},
       .bare_arguments = 1,
       .examples = {"pi(1.5)"}},
      Apply, Stretch, {.kind = SchemeKind::kDividesPositions});
}

}  // namespace midscope
