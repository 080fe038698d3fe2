// SPDX-License-Identifier: MIT
// NTK-by-parts, YaRN's predecessor (rope_schemes.h).
#include "core/terms/make_term.h"
#include "core/terms/yarn_arguments.h"

namespace midscope::ntk_by_parts {
namespace {

struct NtkByParts {
  double factor = 2;
  int64_t context = 0;  // trained context in tokens; 0: the model's
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const NtkByParts&) const = default;
};

void Apply(const NtkByParts& scheme, const TermPlans& plans) {
  CheckPairsHaveOrder(plans);
  const ModelConfig& config = plans.config;
  ReplaceFrequencies(plans,
                     {NtkByPartsFrequencies(config.rope_base, config.rope_dimensions, scheme.factor,
                                            OriginalContext(scheme.context, config)),
                      1.0});
}

}  // namespace

TermType Type() {
  return MakePositionTerm<NtkByParts>(
      {.name = "ntk-by-parts",
       .summary =
           "NTK-by-parts: pairs that turn 16 times or more within the original context stay, those "
           "that turn 0.75 times or less are divided by factor, most between have the frequency of "
           "the NTK-aware base, and ramps join the three.",
       .source =
           "The YaRN repository's class LlamaPartNTKScaledRotaryEmbedding, whose constants (1.25, "
           "0.75 and 16, 2) it calls found by experiment. The YaRN paper (arXiv 2309.00071) "
           "calls its own blend without a magnitude NTK-by-parts: yarn(4, magnitude=1).",
       .arguments = {NumberArgument<&NtkByParts::factor>(
                         "factor", "How much longer the context becomes.", {1, kLargestRatio}, 2),
                     YarnContextArgument<NtkByParts>()},
       .bare_arguments = 1,
       .examples = {"ntk-by-parts(4)"}},
      Apply, StretchOfFactor<NtkByParts>, {.kind = SchemeKind::kReplacesFrequencies});
}

}  // namespace midscope::ntk_by_parts
