// SPDX-License-Identifier: MIT
// Infini-attention (arXiv 2404.07143). Its segments are in plan/near_far_plan.h, its memory's
// computation in compute/compressive_memory.h.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/plan/plan_changes.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::infini {
namespace {

constexpr double kLargestTokens = 1 << 24;

void CheckGates(const std::vector<double>& gates, const TermPlans& plans) {
  const auto count = static_cast<int64_t>(gates.size());
  if (count != 1 && count != plans.config.heads) {
    throw UsageError(plans.term, fmt::format("{} gates for {} heads", count, plans.config.heads),
                     "Give one gate, or one for each query head");
  }
  const bool inside =
      std::all_of(gates.begin(), gates.end(), [](double gate) { return gate >= 0 && gate <= 1; });
  if (!inside) {
    throw UsageError(plans.term, "a gate is the memory's share of a head's output", "Give 0 to 1");
  }
}

void CheckSegment(const InfiniAttention& scheme, const TermPlans& plans) {
  const int64_t context = plans.config.trained_context;
  if (scheme.segment < 1) throw UsageError(plans.term, "segment must be at least 1 token");
  if (context > 0 && scheme.segment > context) {
    throw UsageError(
        plans.term,
        fmt::format("segments of {} tokens are longer than the model's context", scheme.segment),
        fmt::format("Give at most {}", context));
  }
}

// Throws Error (usage) if passages are edited: the memory does not store separate tokens, so such
// edits would not affect it.
void CheckNoPassages(const TermPlans& plans) {
  std::vector<std::string> names;
  bool any = false;
  for (const TermType& type : TermTypes()) {
    if (type.names_span) names.push_back(type.name);
  }
  for (const Term& term : plans.intervention.terms) any = any || term.type().names_span;
  if (!any) return;
  throw UsageError(plans.term,
                   "it does not go together with " + Joined(names, " or ") +
                       ": the memory does not keep single tokens",
                   "Leave one of the two out");
}

void Apply(const InfiniAttention& scheme, const TermPlans& plans) {
  CheckSegment(scheme, plans);
  CheckGates(scheme.gates, plans);
  CheckNoPassages(plans);
  if (plans.config.latent.used()) {
    throw UsageError(
        plans.term,
        "this model's keys are latent (MLA), and the memory is a sum over keys of each "
        "head, which such a model never makes");
  }
  CheckNoWindow(plans.plans, plans.term,
                ": tokens of a segment that are beyond would be in neither part");
  CompressiveMemory memory{scheme.segment, scheme.gates, scheme.update};
  if (memory.gates.size() == 1)
    memory.gates.assign(static_cast<size_t>(plans.config.heads), scheme.gates.front());
  for (AttentionPlan& plan : plans.plans) plan.memory = memory;
}

double Stretch(const InfiniAttention&, const ModelConfig&) { return HUGE_VAL; }

std::string GatesText(const InfiniAttention& value, const Parameter&) {
  std::string text;
  for (const double gate : value.gates) text += (text.empty() ? "" : ",") + NumberText(gate);
  return value.gates.size() == 1 ? text : "[" + text + "]";
}

Parameter DescribedGate() {
  Parameter gate = DescribedNumber<double>(
      "gate", "Share of the memory in a head's output: one, or one a query head in brackets.",
      {0, 1}, 0.1);
  gate.several = true;
  return gate;
}

std::vector<BoundArgument<InfiniAttention>> Arguments() {
  return {NumberArgument<&InfiniAttention::segment>("segment", "Tokens of a segment.",
                                                    {1, kLargestTokens}, 2048, "tokens"),
          {DescribedGate(),
           [](auto& value, const auto& argument, const auto& described) {
             value.gates.clear();
             for (const TextAtom& atom : argument.values)
               value.gates.push_back(Number<double>(atom, described));
           },
           GatesText},
          ChoiceArgument<&InfiniAttention::update>(
              "update",
              "How a segment enters the memory. linear: added. delta: the memory's output for its "
              "keys is subtracted first.",
              {"linear", "delta"})};
}

}  // namespace

TermType Type() {
  return MakePositionTerm<InfiniAttention>(
      {.name = "infini",
       .summary =
           "Infini-attention: causal attention within segments, mixed by gate with the output of a "
           "compressive memory of all earlier segments.",
       .source =
           "Munkhdalai et al. 2024, arXiv 2404.07143. There the gate is learned; a model that was "
           "not trained with it has none, so any gate above 0 is expected to hurt. The first "
           "segment has nothing to read and stays as it is (equation 10 read strictly would scale "
           "it by 1 - gate). Attention rows show the local part, times 1 - gate: the memory has no "
           "tokens.",
       .arguments = Arguments(),
       .examples = {"infini(segment=2048, gate=0.1)"},
       .small_example = "infini(segment=64)"},
      Apply, Stretch, {.needs_rotation = false});
}

}  // namespace midscope::infini
