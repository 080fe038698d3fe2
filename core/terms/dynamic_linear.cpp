// SPDX-License-Identifier: MIT
// Position interpolation whose factor grows with the sequence.
#include <cmath>

#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::dynamic_linear {
namespace {

struct DynamicLinear {
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const DynamicLinear&) const = default;
};

void Apply(const DynamicLinear&, const TermPlans& plans) {
  const double ratio =
      static_cast<double>(plans.positions) / static_cast<double>(plans.config.trained_context);
  if (ratio > 1) DividePositions(plans, ratio);
}

double Stretch(const DynamicLinear&, const ModelConfig&) { return HUGE_VAL; }

}  // namespace

TermType Type() {
  return MakePositionTerm<DynamicLinear>(
      {.name = "dynamic-linear",
       .summary =
           "Beyond the trained context L every position of a sequence of n tokens is multiplied by "
           "L / n; up to L nothing changes. Composes with the model's own frequencies.",
       .source =
           "The YaRN repository's dynamic linear scaling (Peng et al. 2023, arXiv 2309.00071).",
       .examples = {"dynamic-linear"}},
      Apply, Stretch, {.kind = SchemeKind::kDividesPositions});
}

}  // namespace midscope::dynamic_linear
