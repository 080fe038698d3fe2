// SPDX-License-Identifier: MIT
// Replaces the base of the rotation ("adjusted base frequency").
#include <cmath>

#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::base {
namespace {

struct BaseChange {
  double base = 500000;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const BaseChange&) const = default;
};

void Apply(const BaseChange& scheme, const TermPlans& plans) {
  ReplaceFrequencies(plans, FrequenciesWith(plans, scheme.base, {}));
}

}  // namespace

TermType Type() {
  return MakePositionTerm<BaseChange>(
      {.name = "base",
       .summary =
           "Another base of the rotation (adjusted base frequency). Replaces the model's own base "
           "and scaling; layers with local frequencies (gemma3) keep theirs.",
       .source =
           "Xiong et al. 2023, arXiv 2309.16039 (500000); published results come after tuning with "
           "the new base.",
       .arguments = {NumberArgument<&BaseChange::base>(
           "base", "Pair j turns by base^(-2j/d) a position.", {2, 1e12}, 500000)},
       .bare_arguments = 1,
       .examples = {"base(500000)"}},
      Apply, StretchOfBase<BaseChange>, {.kind = SchemeKind::kReplacesFrequencies});
}

}  // namespace midscope::base
