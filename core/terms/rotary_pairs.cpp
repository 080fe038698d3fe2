// SPDX-License-Identifier: MIT
// Multiplies the frequencies of chosen rotary pairs.
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/plan/term_plans.h"
#include "core/terms/make_term.h"

namespace midscope::rotary_pairs {
namespace {

struct PairFrequencies {
  LayerSet pairs;  // ranges of rotary pairs, written like layers
  double factor = 0;
  LayerSet layers;
  RowChoice rows{ChannelRows::kAll};
  bool operator==(const PairFrequencies&) const = default;
};

BoundArgument<PairFrequencies> PairsArgument() {
  Parameter pairs = Required(TextParameter(
      "pairs", "Rotary pairs, zero-based, the fastest first: 5, 24-31, [3,8-12] or all."));
  return {std::move(pairs),
          [](PairFrequencies& value, const TextArgument& argument, const Parameter&) {
            value.pairs = ReadLayers(argument);
          },
          [](const PairFrequencies& value, const Parameter&) { return value.pairs.Text(); }};
}

// Throws Error (usage) for a pair that is not rotated.
void CheckPairs(const LayerSet& pairs, int64_t count, const std::string& term) {
  for (const LayerSet::Range& range : pairs.ranges) {
    if (range.last < count) continue;
    throw UsageError(term, fmt::format("the model rotates no pair {}", range.last),
                     fmt::format("It has rotary pairs 0-{}", count - 1));
  }
}

void Apply(const PairFrequencies& scheme, const TermPlans& plans) {
  ForRotatedLayers(scheme.layers, plans, [&](AttentionPlan& plan) {
    std::vector<double>& frequencies = plan.inverse_frequency;
    CheckPairs(scheme.pairs, static_cast<int64_t>(frequencies.size()), plans.term);
    for (size_t pair = 0; pair < frequencies.size(); ++pair) {
      if (scheme.pairs.Contains(static_cast<int64_t>(pair))) frequencies[pair] *= scheme.factor;
    }
  });
}

// The supported context is determined by the pairs that are unchanged.
double Stretch(const PairFrequencies&, const ModelConfig&) { return 1; }

}  // namespace

TermType Type() {
  return MakePositionTerm<PairFrequencies>(
      {.name = "rotary-pairs",
       .summary =
           "Multiplies the frequencies of chosen rotary pairs, the model's own scaling included; "
           "with factor=0 they tell no position from another.",
       .source =
           "p-RoPE (Barbero et al. 2024, arXiv 2410.06205), which trains with the slowest pairs at "
           "frequency 0, is rotary-pairs(24-31, factor=0) of 32 pairs and p = 0.75; here a model "
           "is run with it as it is.",
       .arguments = {PairsArgument(),
                     NumberArgument<&PairFrequencies::factor>(
                         "factor", "What the frequencies are multiplied by.", {0, 1e6}, 0),
                     LayersArgument<PairFrequencies>()},
       .bare_arguments = 1,
       .correct_example = "rotary-pairs(24-31, factor=0)",
       .examples = {"rotary-pairs(24-31, factor=0)", "rotary-pairs(5, factor=0, rows=last)"},
       .small_example = "rotary-pairs(0, factor=0)"},
      Apply, Stretch);
}

}  // namespace midscope::rotary_pairs
