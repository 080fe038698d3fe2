// SPDX-License-Identifier: MIT
// YaRN (rope_schemes.h).
#include "core/terms/make_term.h"
#include "core/terms/yarn_arguments.h"

namespace midscope::yarn {
namespace {

struct Yarn {
  double factor = 4;
  int64_t context = 0;  // trained context in tokens; 0: the model's
  YarnForm form = YarnForm::kRepo;
  double beta_fast = 32;
  double beta_slow = 1;
  double magnitude = 0;  // factor of cos and sin; 0: 0.1 ln factor + 1; 1: no factor
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const Yarn&) const = default;
};

void Apply(const Yarn& scheme, const TermPlans& plans) { ApplyYarn(scheme, scheme.factor, plans); }

std::vector<BoundArgument<Yarn>> Arguments() {
  std::vector<BoundArgument<Yarn>> arguments = YarnArguments<Yarn>();
  arguments.insert(arguments.begin(),
                   NumberArgument<&Yarn::factor>("factor", "How much longer the context becomes.",
                                                 {1, kLargestRatio}, 4));
  return arguments;
}

}  // namespace

TermType Type() {
  return MakePositionTerm<Yarn>(
      {.name = "yarn",
       .summary =
           "YaRN: pairs that turn often within the original context stay, those that hardly turn "
           "are divided by factor, those between are blended, and logits are sharpened. Replaces "
           "the model's own base scaling; layers with local frequencies (gemma3) keep theirs.",
       .source =
           "Peng et al. 2023, arXiv 2309.00071. Its public code blends along the pair's index, the "
           "paper along the number of rotations, and the code of PoSE (arXiv 2309.10400) and CREAM "
           "(arXiv 2406.07138) blends wavelengths (form=).",
       .arguments = Arguments(),
       .bare_arguments = 1,
       .examples = {"yarn(4, context=2048, form=repo)"},
       .small_example = "yarn(4)",
       .read = ReadYarn<Yarn>},
      Apply, StretchOfFactor<Yarn>, {.kind = SchemeKind::kReplacesFrequencies});
}

}  // namespace midscope::yarn
