// SPDX-License-Identifier: MIT
// Position ratios for every head, from a file.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/intervention/head_ratio_file.h"
#include "core/intervention/term_form.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::ratios {
namespace {

// The digest is that of the order after the seed's shuffle.
HeadRatioTable Read(const TextTerm& term, const TermForm<HeadRatioTable>& form) {
  HeadRatioTable table = ReadTermFile(term, ReadHeadRatios);
  const auto arguments = ReadArguments(term, form);
  table.rows = arguments.rows;
  if (arguments.shuffle) table = ShuffledRatios(std::move(table), *arguments.shuffle);
  CheckDigest(term, "ratios", RatioDigest(table));
  return table;
}

void CheckShape(const HeadRatioTable& scheme, const ModelConfig& config, const std::string& name) {
  const auto count = static_cast<int64_t>(scheme.ratios.size());
  if (scheme.heads == config.heads && count == config.layers * config.heads) return;
  const int64_t layers = scheme.heads > 0 ? count / scheme.heads : 0;
  throw UsageError(
      name, fmt::format("it has ratios for {} layers of {} heads; the model has {} of {}", layers,
                        scheme.heads, config.layers, config.heads));
}

void Apply(const HeadRatioTable& scheme, const TermPlans& plans) {
  const std::string name = plans.term + "(" + scheme.file + ")";
  CheckShape(scheme, plans.config, name);
  for (size_t layer = 0; layer < plans.plans.size(); ++layer) {
    const auto first = scheme.ratios.begin() + static_cast<std::ptrdiff_t>(layer) * scheme.heads;
    AttentionPlan& plan = plans.plans[layer];
    const bool ones = std::all_of(first, first + scheme.heads, [](double r) { return r == 1; });
    if (plan.inverse_frequency.empty() && !ones) {
      throw UsageError(name, fmt::format("layer {} has no positions to divide", layer),
                       "Give its heads the ratio 1");
    }
    plan.q_ratio.assign(first, first + scheme.heads);
    plan.k_ratio = plan.q_ratio;
  }
}

double Stretch(const HeadRatioTable& scheme, const ModelConfig&) {
  return scheme.ratios.empty() ? 1 : *std::min_element(scheme.ratios.begin(), scheme.ratios.end());
}

// Returns a ratio for every head of the model, as a file might contain.
HeadRatioTable Sample(const ModelConfig& config) {
  HeadRatioTable table;
  table.heads = config.heads;
  table.ratios.assign(static_cast<size_t>(config.layers * config.heads), 1.5);
  return table;
}

std::vector<BoundArgument<HeadRatioTable>> Arguments() {
  using Argument = BoundArgument<HeadRatioTable>;
  return {
      RequiredArgument(TermFileArgument<HeadRatioTable>(
          "JSON, [[head 0, head 1, ...] of layer 0, ...] or what midscope export writes; or CSV "
          "with rows layer,head,ratio")),
      DigestArgument<HeadRatioTable, RatioDigest>(),
      Argument{DescribedNumber<uint64_t>(
                   "shuffle",
                   "A seed: each layer's ratios go to its heads in a random order, as a control of "
                   "the order in the file. The digest is then that of the order drawn. Without it "
                   "the file's.",
                   {0, 9007199254740992.0}),
               [](auto& value, const auto& argument, const auto& described) {
                 value.shuffle = Number<uint64_t>(OnlyValue(argument), described);
               },
               [](const auto& value, const auto&) {
                 return value.shuffle ? std::to_string(*value.shuffle) : std::string();
               }}};
}

bool IsNeutral(const HeadRatioTable& scheme) {
  return std::all_of(scheme.ratios.begin(), scheme.ratios.end(),
                     [](double ratio) { return ratio == 1; });
}

// Assigns each layer's ratios to other heads; returns false if all are equal, so that nothing would
// change.
bool Randomise(Intervention& intervention, const ModelConfig&, SplitMix64& random) {
  const HeadRatioTable table = *intervention.Find<HeadRatioTable>();
  if (table.shuffle) return false;
  // A random order may leave all ratios unchanged, mostly if few heads differ.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    HeadRatioTable shuffled = ShuffledRatios(table, random.Below(kControlSeeds));
    if (shuffled.ratios == table.ratios) continue;
    intervention.Add(TermOf(std::move(shuffled)));
    return true;
  }
  return false;
}

}  // namespace

TermType Type() {
  return MakePositionTerm<HeadRatioTable>(
      {.name = "ratios",
       .summary =
           "A position ratio for every head from a file: what Ms-PoE chooses by score, set by "
           "hand. Keys are rotated once per query head. midscope export turns the position_ratio "
           "of a probe's file into such a file.",
       .arguments = Arguments(),
       .bare_arguments = 1,
       .correct_example = "ratios(ratios.json)",
       .examples = {"ratios(ratios.csv)"},
       .read = Read},
      Apply, Stretch,
      {.kind = SchemeKind::kDividesPositions,
       .sample = Sample,
       .changes_nothing = IsNeutral,
       .control = Randomise});
}

}  // namespace midscope::ratios
