// SPDX-License-Identifier: MIT
// Sets how many keys a layer's rows see: switches the model's own sliding window off or replaces
// it.
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::attend {
namespace {

constexpr double kMostKeys = 1 << 24;

struct Attend {
  int64_t keys = 0;  // 0: all keys
  LayerSet layers;
  bool operator==(const Attend&) const = default;
};

void Apply(const Attend& edit, const TermPlans& plans) {
  ForAttentionLayers(edit.layers, plans, [&](AttentionPlan& plan, int64_t) {
    plan.window = edit.keys;
    plan.chunk = 0;
  });
}

}  // namespace

TermType Type() {
  return MakeTerm<Attend>(
      {.name = "attend",
       .summary = "How many keys a row sees, its own included, in place of the model's sliding "
                  "window: all of them, or the last ones. Nothing else changes: layers with a "
                  "rotation of their own keep it.",
       .source = "all: transformers with sliding_window = None. A number: a sliding window as in "
                 "Mistral 7B, arXiv 2310.06825.",
       .arguments = {NumberOrWordArgument<&Attend::keys>(
                         "keys", "The last keys that a row sees, its own included.", "all",
                         {1, kMostKeys}, "tokens"),
                     LayersArgument<Attend>()},
       .bare_arguments = 1,
       .examples = {"attend(all)", "attend(1024, layers=0-14)"},
       .small_example = "attend(8)"},
      Apply, {.stage = TermStage::kBeforePositions});
}

}  // namespace midscope::attend
