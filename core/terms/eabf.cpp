// SPDX-License-Identifier: MIT
// EABF: another base, and queries scaled by the logarithm of their position.
#include <cmath>

#include "core/plan/plan_changes.h"
#include "core/terms/make_term.h"
#include "core/terms/yarn_arguments.h"

namespace midscope::eabf {
namespace {

struct Eabf {
  double base = 500000;
  int64_t context = 0;  // trained context in tokens; 0: the model's
  int64_t first_layer = 2;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const Eabf&) const = default;
};

void Apply(const Eabf& scheme, const TermPlans& plans) {
  const ModelConfig& config = plans.config;
  CheckLayers(LayerSet::From(scheme.first_layer), config, plans.term);
  const auto context = static_cast<int64_t>(OriginalContext(scheme.context, config));
  if (context < 2)
    throw UsageError(plans.term, "a context of one token has no logarithm to divide by");
  ReplaceFrequencies(plans, FrequenciesWith(plans, scheme.base, {}));
  for (int64_t layer = scheme.first_layer; layer < config.layers; ++layer) {
    AttentionPlan& plan = plans.plans[static_cast<size_t>(layer)];
    if (config.AttentionOf(layer).local || plan.inverse_frequency.empty()) continue;
    plan.log_scale_base = context;
  }
}

}  // namespace

TermType Type() {
  return MakePositionTerm<Eabf>(
      {.name = "eabf",
       .summary = "Entropy-aware adjusted base frequency: another base of the rotation, and from "
                  "first_layer on the query at position i is multiplied by ln(i + 1) / ln(context) "
                  "where that is "
                  "above 1, so that attention over more keys stays as sharp.",
       .source =
           "Zhang et al. 2024, arXiv 2401.07004, by its public code (GAIR-NLP/Entropy-ABF, "
           "patch/EABF.py): base 500000, context 4096. The code means to leave the first two "
           "layers unscaled (apply_eabf, count=2), but sets a member that attention does not "
           "read, so all layers are scaled when it is run: first_layer=0. Published results come "
           "after tuning.",
       .arguments = {NumberArgument<&Eabf::base>("base", "Pair j turns by base^(-2j/d) a position.",
                                                 {2, 1e12}, 500000),
                     YarnContextArgument<Eabf>(),
                     NumberArgument<&Eabf::first_layer>(
                         "first_layer", "First layer whose queries are scaled, zero-based.",
                         {0, kEveryLayerAfter}, 2)},
       .bare_arguments = 1,
       .examples = {"eabf(500000)", "eabf(500000, context=4096, first_layer=0)"},
       .small_example = "eabf(500000, context=16, first_layer=0)"},
      Apply, StretchOfBase<Eabf>, {.kind = SchemeKind::kReplacesFrequencies});
}

}  // namespace midscope::eabf
