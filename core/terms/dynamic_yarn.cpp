// SPDX-License-Identifier: MIT
// YaRN whose factor grows with the sequence.
#include <algorithm>
#include <cmath>

#include "core/terms/make_term.h"
#include "core/terms/yarn_arguments.h"

namespace midscope::dynamic_yarn {
namespace {

struct DynamicYarn {
  int64_t context = 0;  // trained context in tokens; 0: the model's
  YarnForm form = YarnForm::kRepo;
  double beta_fast = 32;
  double beta_slow = 1;
  double magnitude = 0;  // factor of cos and sin; 0: 0.1 ln factor + 1
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const DynamicYarn&) const = default;
};

void Apply(const DynamicYarn& scheme, const TermPlans& plans) {
  const double context = OriginalContext(scheme.context, plans.config);
  ApplyYarn(scheme, std::max(1.0, static_cast<double>(plans.positions) / context), plans);
}

double Stretch(const DynamicYarn&, const ModelConfig&) { return HUGE_VAL; }

}  // namespace

TermType Type() {
  return MakePositionTerm<DynamicYarn>(
      {.name = "dynamic-yarn",
       .summary =
           "YaRN that grows with the sequence: a sequence of n tokens has the factor n / context, "
           "and within the context the model is left as it is without scaling. All keys have the "
           "frequencies of the length that the sequence has now: text that grows is run again "
           "token by token.",
       .source =
           "The YaRN repository (LlamaDynamicYaRNScaledRotaryEmbedding without `finetuned`), Peng "
           "et al. 2023, arXiv 2309.00071, section 3.3. The repository keeps cached keys rotated "
           "by the frequencies of earlier lengths, so there generated text depends on the cache.",
       .arguments = YarnArguments<DynamicYarn>(),
       .examples = {"dynamic-yarn", "dynamic-yarn(context=2048, form=paper)"},
       .read = ReadYarn<DynamicYarn>},
      Apply, Stretch, {.kind = SchemeKind::kReplacesFrequencies});
}

}  // namespace midscope::dynamic_yarn
