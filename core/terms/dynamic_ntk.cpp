// SPDX-License-Identifier: MIT
// NTK-aware base whose factor grows with the sequence (rope_schemes.h).
#include <cmath>

#include "core/intervention/head_ratio_file.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::dynamic_ntk {
namespace {

struct DynamicNtk {
  double factor = 2;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const DynamicNtk&) const = default;
};

void Apply(const DynamicNtk& scheme, const TermPlans& plans) {
  RopeScaling scaling;
  scaling.kind = RopeScalingKind::kDynamic;
  scaling.factor = scheme.factor;
  scaling.original_context = static_cast<double>(TrainedContext(plans.config));
  ReplaceFrequencies(plans, FrequenciesWith(plans, plans.config.rope_base, scaling));
}

double Stretch(const DynamicNtk&, const ModelConfig&) { return HUGE_VAL; }

}  // namespace

TermType Type() {
  return MakePositionTerm<DynamicNtk>(
      {.name = "dynamic-ntk",
       .summary =
           "The same, growing with the sequence: beyond the original context L a sequence of n "
           "tokens has the factor factor n / L - (factor - 1). All keys have the frequencies of "
           "the length that the sequence has now: text that grows beyond the context is run again "
           "token by token.",
       .source =
           "transformers' rope type 'dynamic' and the YaRN repository. Both keep cached keys "
           "rotated by the frequencies of earlier lengths, so there generated text depends on the "
           "cache.",
       .arguments = {NumberArgument<&DynamicNtk::factor>(
           "factor", "1: the context follows the sequence; above 1 the base grows faster.",
           {kSmallestRatio, kLargestRatio}, 2)},
       .bare_arguments = 1,
       .examples = {"dynamic-ntk(2)"}},
      Apply, Stretch, {.kind = SchemeKind::kReplacesFrequencies});
}

}  // namespace midscope::dynamic_ntk
