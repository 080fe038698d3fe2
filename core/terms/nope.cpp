// SPDX-License-Identifier: MIT
// Switches rotation off in some layers.
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::nope {
namespace {

struct NoRotation {
  LayerSet layers;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const NoRotation&) const = default;
};

void Apply(const NoRotation& scheme, const TermPlans& plans) {
  ForRotatedLayers(scheme.layers, plans, [](AttentionPlan& plan) {
    plan.inverse_frequency.clear();
    plan.magnitude = 1;
  });
}

double Stretch(const NoRotation&, const ModelConfig&) { return 1; }

}  // namespace

TermType Type() {
  return MakePositionTerm<NoRotation>(
      {.name = "nope",
       .summary = "No rotation in these layers: keys there differ by their content and by the "
                  "causal mask alone.",
       .source =
           "Kazemnejad et al. 2023, arXiv 2305.19466, train without positions; a model that was "
           "trained with them loses much where they are taken away.",
       .arguments = {RequiredArgument(
           LayersArgument<NoRotation>("Layers without rotation: all, 8-25 or [2-8,12].", ""))},
       .correct_example = "nope(layers=0-3)",
       .examples = {"nope(layers=0-3)"},
       .small_example = "nope(layers=0)"},
      Apply, Stretch);
}

}  // namespace midscope::nope
