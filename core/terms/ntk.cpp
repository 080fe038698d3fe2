// SPDX-License-Identifier: MIT
// NTK-aware base (rope_schemes.h).
#include "core/intervention/head_ratio_file.h"
#include "core/intervention/rope_schemes.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::ntk {
namespace {

struct Ntk {
  double factor = 2;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const Ntk&) const = default;
};

void Apply(const Ntk& scheme, const TermPlans& plans) {
  const ModelConfig& config = plans.config;
  const double base = NtkBase(config.rope_base, scheme.factor, config.rope_dimensions);
  ReplaceFrequencies(plans, FrequenciesWith(plans, base, {}));
}

double Stretch(const Ntk& scheme, const ModelConfig&) { return scheme.factor; }

}  // namespace

TermType Type() {
  return MakePositionTerm<Ntk>(
      {.name = "ntk",
       .summary =
           "NTK-aware base: base * factor^(d/(d-2)), which leaves the fastest pair as it is and "
           "divides the slowest by factor. Replaces the model's own base scaling; layers with "
           "local frequencies (gemma3) keep theirs.",
       .source =
           "Known from a forum post of 2023; as in Peng et al., arXiv 2309.00071, and its code.",
       .arguments = {WithSlider(
           NumberArgument<&Ntk::factor>("factor", "How much longer the context becomes.",
                                        {kSmallestRatio, kLargestRatio}, 2),
           1, 16)},
       .bare_arguments = 1,
       .examples = {"ntk(2)"}},
      Apply, Stretch, {.kind = SchemeKind::kReplacesFrequencies});
}

}  // namespace midscope::ntk
